"""What is done with a language model: score, generate, complete, stream."""
