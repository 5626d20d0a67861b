"""How a language model reads: gates, surprise, and what its next word rests on."""

from __future__ import annotations

import torch

from elman.inspect.layer_gates import layer_gates
from elman.inspect.readers.place import place_of
from elman.inspect.reading import Reading, Surprise
from elman.inspect.saliency import Saliency, attributed, best_two
from elman.shapes import Tensor
from elman.tasks.language_model import LanguageModel
from elman.tasks.writing.scoring import score
from elman.tasks.writing.spelled import in_words, readable, shown


def read(model: LanguageModel, text: str, word: int | None) -> Reading:
    """The token expected after the text is explained, or one where it stands, against the likeliest other."""
    net, codec = model.net, model.codec
    written = codec.encode(text)
    place = len(written) if word is None else place_of(word, len(written))
    read = torch.tensor([[model.end, *written]], device=next(net.parameters()).device)
    with torch.no_grad():
        xs = net.embed(read)
        best, other = (int(token) for token in best_two(net(read)[0, place : place + 1]))
    if word is not None and written[place] != best:
        best, other = written[place], best

    def margin() -> Tensor:
        logits: Tensor = net(read)[:, place]
        return logits[:, best] - logits[:, other]

    tokens = shown(codec, text, model.end)
    asked = "the next token" if word is None else f"token {word}"
    why = Saliency(
        asked, readable(codec, best), readable(codec, other), attributed(net.embed, margin)[0]
    )
    found = score(model, text)
    return Reading(
        [tokens[-1], *tokens[:-1]],
        " " if in_words(codec) else "",
        layer_gates(net.layers, xs),
        [why],
        surprise=Surprise(found.tokens, [-nats for nats in found.log_probs]),
    )
