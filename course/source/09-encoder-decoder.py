"""Notebook 09: one network reads, another writes."""

# %% [markdown]
# # 09 · Encoder and decoder
#
# A tagger writes one label for each word. A translation is different: it has **another length** than its source, and
# its words stand in **another order**. In this notebook you see why one recurrent network is not enough for that, and
# how two networks do it: an **encoder** that reads and a **decoder** that writes.
#
# Rows of the lectures: 32–40, 45, 68.
#
# You need notebooks 04 (LSTM), 05 (both directions) and 06 (language models). All models here train in a few seconds.

# %%
import random

import matplotlib.pyplot as plt
import torch

import elman
from elman.course import check
from elman.course.number_words import english_number, german_number
from elman.tasks.config import TokenizerConfig
from elman.tasks.seq2seq import Seq2SeqConfig, Seq2SeqExample, TokenizerPairConfig

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})

# %% [markdown]
# ## The task: translate numbers to German
#
# Real translation needs a large corpus. We take a small part of it that a model can learn in seconds: **numbers in
# words**. It is real German, and it has what makes translation hard. The two sides have different lengths, and German
# turns the last two words around: *forty seven* is *sieben und vierzig*, "seven and forty". (German writes a number as
# one long word. We put blanks between its parts, so that you can see them.)

# %%
for number in (19, 47, 300, 347, 860, 901):
    print(f"{english_number(number):30} {german_number(number)}")

# %% [markdown]
# We choose 800 of the numbers from 1 to 999 for training. The model never sees the other 199: we test on them.

# %%
numbers = list(range(1, 1000))
random.Random(0).shuffle(numbers)
pairs = [(english_number(n), german_number(n)) for n in numbers]
train, test = pairs[:800], pairs[800:]

lengths = [(len(source.split()), len(target.split())) for source, target in pairs]
print("same length:", sum(m == n for m, n in lengths), "of", len(pairs))

# %% [markdown]
# Every model below has the same size and the same training. Only the options of the network differ. (The last 50
# training pairs choose the best weights.)

# %%
WORDS = {"kind": "words"}


def learn(pairs, *, epochs=15, batch_tokens=400, **network):
    """A model of words with 48 LSTM units, trained on pairs; the options of the network are yours."""
    return elman.Seq2Seq.train(
        pairs[:-50],
        valid=pairs[-50:],
        recipe={
            "data": {"batch_tokens": batch_tokens},
            "tokens": {"source": WORDS, "target": WORDS, "joint": network.get("shared", False)},
            "model": {"embedding": 16, "label_smoothing": 0.0, "bidirectional": False, "beam": 1, **network},
            "training": {"evaluate_every": 80},
        },
        layers=1,
        hidden=48,
        dropout=0.0,
        epochs=epochs,
        lr=0.02,
    )


def share_right(model, pairs):
    """How many of some pairs are translated without a mistake, in percent."""
    return round(model.evaluate(pairs)["exact"], 1)


# %% [markdown]
# ## One network that writes while it reads (row 32)
#
# The lectures begin with the simplest idea: take a transducer, as for tagging. At each step it reads a word and writes
# a word. After the last source word it may go on, and the translation ends at a special **end token**. So lengths may
# differ. Is that enough?

# %%
transducer = learn(train, decoder="transducer")
share_right(transducer, test)

# %% [markdown]
# It is not. Here are some answers of the test, with what is right below each wrong one:

# %%
sources = [source for source, _ in test[:14]]
for (source, target), answer in zip(test, transducer.translate(sources)):
    print(f"{source:28} {answer}" + ("" if answer == target else f"\n{'':28} {target}  (right)"))

# %% [markdown]
# Some answers are perfect, and most have a wrong word: always at the same place. Think about what the network had read
# when it had to write this word.
#
# ### Exercise 09.1
#
# Read these numbers word by word, as a transducer does: after each English word it must write a German one. In which of
# them must it write a word **before it can know which**? Answer with a list of these numbers.
#
# `"six hundred"`, `"eighty one"`, `"twelve"`, `"five hundred fourteen"`, `"two hundred sixty"`,
# `"nine hundred thirty three"`

# %%
too_early = ...
check("09.1", too_early);

# %% [markdown]
# The other idea is one network that first reads the whole source, then a separator `<s>`, and then writes. This is a
# language model of the string *source `<s>` target* (lecture 001 draws translation like this). It has seen the whole
# source before it writes.

# %%
single = learn(train, decoder_only=True, shared=True, decoder="plain", decoder_init="copied")
share_right(single, test)

# %% [markdown]
# This is much better. But the same weights do two different jobs, reading English and writing German, and both languages
# share one vocabulary. The lecture calls neither of the two ideas ideal.

# %% [markdown]
# ## Two networks (row 33)
#
# Reading and writing are different jobs, so we give each its own network:
#
# $$h^{enc}_i = R^{enc}(h^{enc}_{i-1}, x_i) \qquad h^{dec}_t = R^{dec}(h^{dec}_{t-1}, \hat y_{t-1}) \qquad
# p(y_t) = \mathrm{softmax}(V h^{dec}_t)$$
#
# Encoder and decoder have **separate parameters and separate embeddings**. Three questions remain, and the lecture
# answers them one after the other. How does the decoder start? What is its input? When does it stop?
#
# ### How does the decoder start? (rows 35 and 36)
#
# The simplest answer is $h^{dec}_0 = h^{enc}_n$: the decoder **copies** the last state of the encoder. Everything that
# it knows about the source is in this one vector.

# %%
copied = learn(train, decoder="plain", decoder_init="copied")
share_right(copied, test)

# %% [markdown]
# Where do the parameters stand? `source` and `target` are the two embeddings, `encoder` reads and `decoder` writes. The
# two sides share nothing. (The softmax is small, because it uses the rows of the target embedding a second time: weight
# tying, notebook 06.)

# %%
for part in ("source", "target", "encoder", "decoder", "softmax"):
    size = sum(w.numel() for name, w in copied.net.named_parameters() if name.split(".")[0] == part)
    print(f"{part:8} {size:7,}")

# %% [markdown]
# A copy needs an encoder and a decoder with the same sizes. The other answer of the lecture has no such limit:
# $h^{dec}_0 = \mathrm{NN}(h^{enc}_n)$, a small network in between. Elman uses
# $h^{dec}_0 = \tanh(W h^{enc}_n + b)$, `decoder_init="transformed"`. Here the encoder has two directions of 20 units
# each, and the decoder has 48. An LSTM has two parts of a state, $h$ and $c$, so $W$ has $2 \cdot 48$ rows.

# %%
def build(**network):
    """An untrained model of words for the same pairs."""
    sizes = {"layers": 1, "hidden": 48, "embedding": 16}
    words = TokenizerConfig("words")
    examples = [Seq2SeqExample(source, (target,)) for source, target in train]
    return elman.Seq2Seq.from_examples(
        Seq2SeqConfig(**sizes, **network), TokenizerPairConfig(words, words), examples
    )


transformed = build(decoder="plain", decoder_init="transformed", encoder_hidden=20)
tuple(transformed.net.get_parameter("decoder.initial_state.W.weight").shape)

# %% [markdown]
# ### What is its input, and when does it stop? (rows 37, 38 and 68)
#
# The first input is a special token, beginning of sequence: `<BOS>` in the lecture, `<s>` in Elman. Each next input is
# the word that the decoder has just written. It stops when it writes the end token (`<EOS>`, in Elman `</s>`), or when
# a maximum length is reached. Let us do all of this by hand, in the four steps of the lecture: **tokenise, embed,
# encode, generate**.

# %%
text = "three hundred forty seven"
reads, writes = copied.tokenizers.source, copied.tokenizers.target
ids = torch.tensor([reads.encode(text)])
embedded = copied.net.reads(ids)
encoding = copied.net.encode(ids, ids > 0)  # the second argument is the mask: all are real words
print("tokenise", reads.tokens(text), ids.tolist())
print("embed   ", tuple(embedded.shape))
print("encode  ", tuple(encoding.ys.shape), "and the last state", tuple(encoding.last.shape))

# %% [markdown]
# To generate, Elman gives us a **step** of the decoder: from a state and a token to a new state and the logits of the
# next word. All searches of notebook 11 and all objectives of notebook 12 use nothing but such a step.

# %%
view = copied.sequence_model()
begun = view.begin(view.collate(copied.encode([Seq2SeqExample(text, ("",))])))


def step(state, token):
    """One step of the decoder: the new state, and a logit for each word of the vocabulary."""
    with torch.no_grad():
        state, logits = begun.step(state, torch.tensor([token]))
    return state, logits[0]


state, token = begun.state, writes.items.index("<s>")
for position in range(6):
    state, logits = step(state, token)
    best = logits.softmax(0).topk(3)
    token = int(best.indices[0])
    print(position + 1, *(f"{writes.items[i]:8} {p:.3f} " for p, i in zip(best.values, best.indices)))

# %% [markdown]
# You see the three best words of each step. The last one is `</s>`: the model itself says that it is done. `translate`
# does the same. It can also stop earlier: at any string that you give, or at a maximum number of tokens.

# %%
from dataclasses import replace

print(copied.translate([text]))
print(copied.translate([text], max_tokens=2))
print(copied.translate([text], config=replace(copied.decoding_config, stop=("sieben",))))

# %% [markdown]
# ### Exercise 09.2
#
# Write the loop yourself, as a function for any step. It feeds back the most probable token (this is called **greedy**)
# and returns the list of tokens **without** the end token. It stops at `end`, or when it has `limit` tokens.
# `step(state, token)` gives a new state and a vector of logits, as above.


# %%
def write(step, state, begin, end, limit):
    ...


check("09.2", write);

# %% [markdown]
# When your function is right, this line translates with it:

# %%
answer = write(step, begun.state, writes.items.index("<s>"), writes.items.index("</s>"), 20)
print("nothing yet" if answer is None else " ".join(writes.items[i] for i in answer))

# %% [markdown]
# ## The context: once, or at every step? (rows 39 and 40)
#
# Lecture 004 calls what the decoder knows of the source the **context** $c = g(h_{1:n})$, for example the last state.
# So far the decoder gets it in its first state only, and then it must remember it while it writes. The lecture says
# that its influence *wanes as the output is generated*, and it has an idea: give $c$ to **every** step,
#
# $$h^d_t = g(\hat y_{t-1}, h^d_{t-1}, c).$$
#
# To see a difference we need longer outputs. We take numbers up to 999,999. Their translations have up to 11 words.

# %%
large = random.Random(1).sample(range(100_000, 1_000_000), 2150)
large_pairs = [(english_number(n), german_number(n)) for n in large]
large_train, large_test = large_pairs[:2000], large_pairs[2000:]
print(*large_test[0], sep="\n")

# %%
longer = {"epochs": 10, "batch_tokens": 800, "decoder_init": "copied"}
first_only = learn(large_train, decoder="plain", **longer)
every_step = learn(large_train, decoder="context", **longer)
share_right(first_only, large_test), share_right(every_step, large_test)


# %%
def right_by_position(model):
    """The share of right words at each position of the translations."""
    answers = [answer.split() for answer in model.translate([source for source, _ in large_test])]
    golds = [target.split() for _, target in large_test]
    shares = []
    for place in range(11):
        rows = [(a, g) for a, g in zip(answers, golds) if len(g) > place]
        shares.append(sum(len(a) > place and a[place] == g[place] for a, g in rows) / len(rows))
    return shares


fig, ax = plt.subplots()
ax.plot(range(1, 12), right_by_position(first_only), "o-", label="context in the first state only")
ax.plot(range(1, 12), right_by_position(every_step), "s-", label="context at every step")
ax.set(xlabel="position of the word in the translation", ylabel="share of right words", ylim=(0, 1.05))
ax.set_title("A context that is given once fades while the decoder writes")
ax.legend();

# %% [markdown]
# Look at the positions 1, 3, 5, 7, 9 and 11: there stand the words that carry the number. Between them are *hundert*,
# *und* and *tausend*, which are easy to guess. With the context in the first state only, the first word is always right,
# and the last ones are wrong more often than right. With the context at every step, all positions are good.
#
# ### Exercise 09.3
#
# A decoder gets the embedding of the last word (16 numbers) and the context at every step. The encoder is a
# **bidirectional** LSTM with 20 units in each direction, and $c$ is its last state in both directions. How many numbers
# enter the cell of the decoder at each step, **not counting** its own state $h_{t-1}$?

# %%
inputs = ...
check("09.3", inputs);

# %% [markdown]
# ## The encoder can be exchanged (row 45)
#
# The decoder needs only vectors $h_{1:n}$, one for each source word. It does not matter who made them. Lecture 004 says
# *CNN/LSTM/Transformer*, and so does Elman: an encoder maps $x_{1:n}$ to $h_{1:n}$.

# %%
for kind in ("recurrent", "convolutional", "transformer"):
    other = build(encoder=kind, decoder="context", bidirectional=False)
    ids = torch.tensor([other.tokenizers.source.encode(text)])
    print(f"{kind:14} h of shape", tuple(other.net.encode(ids, ids > 0).ys.shape))

# %% [markdown]
# Notebook 10 trains such a model and shows where the decoder looks.
#
# ## Text to text (row 34)
#
# Translation is one of many tasks of this form. **Dialogue, question answering, summarization, grammar correction and
# story generation** are pairs of texts, too, and the same model learns them. Here is one small model that learns six
# tasks by heart. The first word says which task is meant.

# %%
tasks = [
    ("translate good morning", "guten Morgen"),
    ("translate good night", "gute Nacht"),
    ("answer what is the capital of France", "Paris"),
    ("answer what is the capital of Italy", "Rome"),
    ("chat how are you", "fine , and you ?"),
    ("chat what is your name", "my name is Elman"),
    ("correct he go home", "he goes home"),
    ("correct she have a dog", "she has a dog"),
    ("shorten the long and cold winter of the north is over", "winter is over"),
    ("shorten the old and tired king of the island is dead", "king is dead"),
    ("tell once there was a king", "and he had a daughter"),
    ("tell once there was a cat", "and it slept all day"),
]
many = elman.Seq2Seq.train(
    tasks,
    recipe={
        "tokens": {"source": WORDS, "target": WORDS},
        "model": {"decoder": "context", "embedding": 16, "label_smoothing": 0.0},
        "data": {"batch_tokens": 128, "holdout": 0.0},  # no validation: it learns by heart
    },
    layers=1,
    hidden=48,
    dropout=0.0,
    epochs=80,
    lr=0.02,
)
for source, _ in tasks[::2]:
    print(f"{source:55} {many.translate([source])[0]}")

# %% [markdown]
# This proves only that the **form** fits all six tasks. Twelve pairs learnt by heart are no understanding: with real
# data you need thousands of pairs. The command is the same for all of them:
# `elman train seq2seq --train pairs.tsv --out models/mine`.
#
# ## Things to change
#
# 1. Sutskever et al. (2014) fed the source **backwards** (`" ".join(reversed(source.split()))`) and won a lot. Try it
#    with `first_only`. Which words come closer to each other?
# 2. Replace the cell: add `"cell": "gru"` or `"cell": "elman"` to the options of `learn`. Which part of the picture
#    above changes?
# 3. Take the **mean** of all states as context: `summary="mean"`. Can a mean tell *forty seven thousand* from *seven
#    thousand forty*?
#
# ## What comes next
#
# One vector for the whole source is a **bottleneck**: the longer the source, the less room for each word. In
# [notebook 10](10-attention.ipynb), the decoder looks back at all states of the encoder and chooses where to look. This
# is attention.
