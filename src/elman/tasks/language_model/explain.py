"""How a language model reads: its gates, its surprisal, and what its next word rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from elman.generation import score
from elman.generation.token_bytes import display_token, display_tokens
from elman.shapes import Tensor
from elman.tasks.results import LayerPass, Question, Surprisal, TextTrace, best_two, word_index

if TYPE_CHECKING:
    from elman.tasks.language_model.task import LanguageModel


def trace(task: LanguageModel, text: str, word: int | None) -> TextTrace:
    """The token expected after the text is explained, or one where it stands, against the likeliest other."""
    net, tokenizer = task.net, task.tokenizer
    written = tokenizer.encode(text)
    place = len(written) if word is None else word_index(word, len(written))
    read = torch.tensor([[task.end, *written]], device=task.device)
    with torch.no_grad():
        xs = net.embed(read)
        best, other = (int(token) for token in best_two(net(read)[0, place : place + 1]))
    if word is not None and written[place] != best:
        best, other = written[place], best

    def margin() -> Tensor:
        logits: Tensor = net(read)[:, place]
        return logits[:, best] - logits[:, other]

    *tokens, end = display_tokens(tokenizer, text, task.end)
    tokens = [end, *tokens]
    blank = " " if tokenizer.level == "word" else ""
    asked = "the next token" if word is None else f"token {word}"
    questions = [Question(asked, display_token(tokenizer, best), display_token(tokenizer, other))]
    found = score(task, text)
    surprisal = Surprisal(found.tokens, [-nats for nats in found.log_probs])
    passes = [LayerPass("", tokens, net.layers, xs)]
    return TextTrace(tokens, blank, passes, net.embed, margin, questions, surprisal=surprisal)
