"""The parts of a tagger: sentences, tags, and the three output layers."""
