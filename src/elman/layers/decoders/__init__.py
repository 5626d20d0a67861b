"""Decoders: what is written next, given what was written and what an encoder read.

Six of them, by what they see of the source, and when; ``model.decoder`` chooses one. x_i is the token before,
h_i what the cells give, o_i what the softmax reads, c the summary of the source, c_i what attention finds:

    PlainDecoder          h_i = R(h_{i-1}, x_i)                                   o_i = h_i
    ContextDecoder        h_i = R(h_{i-1}, [x_i; c])                              o_i = tanh(W [h_i; c]), or h_i
    BahdanauDecoder       c_i = attend(h_{i-1})    h_i = R(h_{i-1}, [x_i; c_i])   o_i = tanh(W [h_i; c_i])
    LuongDecoder          h_i = R(h_{i-1}, x_i)    c_i = attend(h_i)              o_i = tanh(W [h_i; c_i])
    GNMTDecoder           h'_i = R'(h'_{i-1}, x_i)   c_i = attend(h'_i)
                          h_i = R(h_{i-1}, [h'_i; c_i])                           o_i = tanh(W [h_i; c_i])
    InputFeedingDecoder   h_i = R(h_{i-1}, [x_i; o_{i-1}])   c_i = attend(h_i)    o_i = tanh(W [h_i; c_i])

``unroll`` reads any number of given tokens, all at once where the recurrence allows it (teacher forcing);
``step`` goes on by one, for search and streaming. `TransducerDecoder` writes what its encoder says.
"""
