"""The parts of a tagger: sentences, tags, the network and its three output layers."""
