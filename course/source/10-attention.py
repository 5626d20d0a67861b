"""Notebook 10: the decoder chooses where to look."""

# %% [markdown]
# # 10 · Attention
#
# In notebook 09 one vector had to hold the whole source. Long sources do not fit into it. **Attention** removes this
# bottleneck: at each step the decoder looks at all states of the encoder and chooses those that matter for the next
# word. You compute it by hand, train it, and look at what it learnt.
#
# Rows of the lectures: 41–45.
#
# You need notebook 09.

# %%
import random

import matplotlib.pyplot as plt
import torch

import elman
from elman.course import check
from elman.course.number_words import english_number, german_number
from elman.errors import ElmanError
from elman.tasks.seq2seq import Seq2SeqExample

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})

# %% [markdown]
# ## The bottleneck
#
# The task is that of notebook 09, numbers in English and in German, but now a source is a **sum of one, two or three
# numbers**. So we can make sources as long as we want. The test has 50 sums of each kind.

# %%
dice = random.Random(0)
used = set()


def make_pair(count):
    """A new sum of some numbers, in English and in German."""
    numbers = tuple(dice.randrange(1, 1000) for _ in range(count))
    if numbers in used:
        return make_pair(count)
    used.add(numbers)
    return " plus ".join(map(english_number, numbers)), " plus ".join(map(german_number, numbers))


train = [make_pair(dice.randint(1, 3)) for _ in range(1500)]
test = {count: [make_pair(count) for _ in range(50)] for count in (1, 2, 3)}
print(*test[2][0], sep="\n")

# %%
WORDS = {"kind": "words"}


def learn(**network):
    """A model with one layer of 32 LSTM units on each side; the options of the network are yours."""
    return elman.Seq2Seq.train(
        train[:-50],
        valid=train[-50:],
        recipe={
            "data": {"batch_tokens": 800},
            "tokens": {"source": WORDS, "target": WORDS},
            "model": {"embedding": 16, "label_smoothing": 0.0, "bidirectional": False, "beam": 1, **network},
            "training": {"evaluate_every": 80},
        },
        layers=1,
        hidden=32,
        dropout=0.0,
        epochs=10,
        lr=0.02,
    )


def words_right(model):
    """The share of right words in the translations of one, two and three numbers."""
    shares = []
    for pairs in test.values():
        answers = [answer.split() for answer in model.translate([source for source, _ in pairs])]
        golds = [target.split() for _, target in pairs]
        hits = sum(a == b for answer, gold in zip(answers, golds) for a, b in zip(answer, gold))
        shares.append(hits / sum(map(len, golds)))
    return shares


fixed = learn(decoder="context")
print([round(share, 2) for share in words_right(fixed)])

# %% [markdown]
# This decoder gets the context $c$, the last state of the encoder, at **every** step. It translates one number well. Of
# two or three numbers much is wrong: 32 units have no room for all of them. More units help, but a longer sentence always
# comes.
#
# ## The idea
#
# The encoder has made a state $h^e_j$ for **each** source word. Why do we throw all of them away but the last? Lecture
# 004 makes a **new context for each step** $i$ of the decoder:
#
# $$c_i = \sum_j \alpha_{ij}\, h^e_j \qquad h^d_i = g(\hat y_{i-1}, h^d_{i-1}, c_i)$$
#
# The weights $\alpha_{ij}$ say how much the decoder looks at word $j$ when it writes word $i$. They come from a **score**:
# how relevant is $h^e_j$ for the decoder, which is now in state $h^d_{i-1}$? A softmax makes weights of the scores
# (row 44):
#
# $$\alpha_{ij} = \frac{\exp(\mathrm{score}(h^d_{i-1}, h^e_j))}{\sum_k \exp(\mathrm{score}(h^d_{i-1}, h^e_k))}$$
#
# ## By hand: the dot product (row 42)
#
# The simplest score is the dot product $h^d_{i-1} \cdot h^e_j$. It is large when the two vectors are similar. Here are
# three source words with states of two numbers each, and a state of the decoder.

# %%
encoder_states = torch.tensor([[1.5, 0.0], [0.2, 1.0], [-1.2, 0.6]])  # three words, two units
decoder_state = torch.tensor([1.2, 0.8])

scores = encoder_states @ decoder_state
weights = scores.softmax(0)
context = weights @ encoder_states
print("scores ", [round(s, 3) for s in scores.tolist()])
print("weights", [round(w, 3) for w in weights.tolist()], "sum", round(weights.sum().item(), 3))
print("context", [round(c, 3) for c in context.tolist()])

# %%
fig, ax = plt.subplots(figsize=(6, 3))
for place, (x, y) in enumerate(encoder_states.tolist()):
    arrow = {"arrowstyle": "->", "color": "tab:blue", "lw": 1 + 5 * weights[place].item()}
    ax.annotate("", (x, y), (0, 0), arrowprops=arrow)
    ax.text(x + 0.05, y + 0.06, f"word {place + 1}: α = {weights[place]:.2f}", color="tab:blue")
ax.annotate("", decoder_state.tolist(), (0, 0), arrowprops={"arrowstyle": "->", "color": "tab:red", "lw": 2})
ax.text(1.25, 0.8, "decoder", color="tab:red")
ax.plot(*context.tolist(), "k*", markersize=14)
ax.text(context[0].item() + 0.1, context[1].item() - 0.04, "context c")
ax.set(xlim=(-1.5, 2.5), ylim=(-0.15, 1.25), title="The context lies near the words that are like the decoder");

# %% [markdown]
# ### Exercise 10.1
#
# Write dot-product attention as a function. `query` is a state of the decoder with H numbers, `states` are the states of
# the encoder, of shape (S, H). Return two tensors: the **weights** (S numbers) and the **context** (H numbers).


# %%
def attend(query, states):
    ...


check("10.1", attend);

# %% [markdown]
# ### Exercise 10.2
#
# Suppose that all scores are **equal**. Then the context $c$ is a well-known summary of the states. Which one: `"last"`,
# `"sum"`, `"mean"` or `"maximum"`?

# %%
summary = ...
check("10.2", summary);

# %% [markdown]
# ## A score with weights (row 43)
#
# The dot product needs two vectors of the **same size**, and it cannot learn what "similar" means. With a matrix of
# weights it can: $\mathrm{score} = h^d_{i-1} W_s\, h^e_j$, the **bilinear** score. $W_s$ is trained with all the rest. It
# also joins different sizes, for example a decoder of 32 units and a bidirectional encoder of 2 · 32. Elman refuses a
# dot product there, and says why:

# %%
try:
    learn(decoder="bahdanau", score="dot", bidirectional=True)
except ElmanError as error:
    print(error)

# %% [markdown]
# ## Attention in the model (row 41)
#
# Lecture 004 scores with the state **before** the step, $h^d_{i-1}$, and feeds $c_i$ into the cell. In Elman this is
# `decoder="bahdanau"`, after Bahdanau et al. (2015). Everything else stays as above, also the 32 units.

# %%
attending = learn(decoder="bahdanau", score="bilinear")
print([round(share, 2) for share in words_right(attending)])

# %%
fig, ax = plt.subplots()
ax.plot([1, 2, 3], words_right(fixed), "o-", label="one context for all steps")
ax.plot([1, 2, 3], words_right(attending), "s-", label="attention: a new context at each step")
ax.set(xlabel="numbers in the source", ylabel="share of right words", ylim=(0, 1.05), xticks=[1, 2, 3])
ax.set_title("With attention, long sources are no harder than short ones")
ax.legend(loc="lower left");

# %% [markdown]
# The same units, the same data, the same number of updates. The model with attention does not have to remember the
# source: it can look again.
#
# Is it really the formula from above? Let us compute the weights of the first step by hand, from the parameters of the
# trained model: $\alpha_1 = \mathrm{softmax}(h^d_0 W_s h^e)$. Here $h^d_0$ is the first state of the decoder.

# %%
source, target = "three hundred forty seven", "drei hundert sieben und vierzig"
view = attending.sequence_model()
batch = view.collate(attending.encode([Seq2SeqExample(source, (target,))]))
with torch.no_grad():
    encoder_states = attending.net.encode(batch.source, batch.mask).ys[0]
    first_state = view.begin(batch).state.cells[0].h[0]
    W_s = attending.net.get_parameter("decoder.attention.score.W_s.weight")
    by_hand = (first_state @ W_s @ encoder_states.T).softmax(0)
print("by hand", *(f"{w:.2e}" for w in by_hand))
print("Elman  ", *(f"{w:.2e}" for w in attending.align(source, target).weights[0]))

# %% [markdown]
# ## The alignment, drawn (row 44)
#
# The weights show which source word the model looked at for each target word. `align` gives them as a matrix. Each row
# is a target word, and its weights have the sum 1.

# %%
attending.align(source, target)

# %% [markdown]
# Nobody told the model which words belong together. It learnt it, because it helps to translate. (Words of the source
# can be seen by their neighbours, too: the state $h^e_j$ has read all words up to $j$. So a row may look one word further
# to the right than you expect.) Now a longer source:

# %%
source, target = test[3][7]
found = attending.align(source, target)
fig, ax = plt.subplots(figsize=(6.5, 5.5))
ax.imshow(found.weights, cmap="Blues", vmin=0, vmax=1)
ax.set_xticks(range(len(found.source)), found.source, rotation=60, ha="left", rotation_mode="anchor")
ax.set_yticks(range(len(found.target)), found.target)
ax.xaxis.tick_top()
ax.xaxis.set_label_position("top")
ax.set(xlabel="source", ylabel="target");

# %% [markdown]
# The dark cells run from the top left to the bottom right: first number first. Inside a number they cross, because German
# says *seven and forty*. This is what the transducer of notebook 09 could not do. For *plus* and *hundert*, which are easy
# to guess, the weights may be anywhere: attention shows where the model **looked**, which is not always where it
# **needed** to look.
#
# ### Exercise 10.3
#
# A decoder of 48 units attends to a **bidirectional** encoder with 20 units in each direction, with the bilinear score.
# What is the shape of $W_s$? Answer with a pair: the rows belong to the decoder, the columns to the encoder.

# %%
shape = (..., ...)
check("10.3", shape);

# %% [markdown]
# ## Other scores, other places
#
# | `score` | formula | |
# |---|---|---|
# | `dot` | $h^d \cdot h^e$ | equal sizes, no parameters |
# | `scaled` | $h^d \cdot h^e / \sqrt{H}$ | the same, not so sharp for large H |
# | `bilinear` | $h^d W_s h^e$ | any two sizes |
# | `additive` | $v \cdot \tanh(W h^d + U h^e)$ | Bahdanau et al. (2015) |
#
# `decoder="luong"` scores with the state **after** the step, $h^d_i$. Then the cell does not need $c_i$, and training
# can compute all steps at once: it is much faster.
#
# ## Another encoder (row 45)
#
# Attention needs only the states $h^e_{1:n}$. So it works with any encoder. Here is a **convolutional** one, which sees a
# few neighbours of each word and has no recurrence at all.

# %%
convolutional = learn(encoder="convolutional", decoder="luong")
print([round(share, 2) for share in words_right(convolutional)])
convolutional.align("three hundred forty seven", "drei hundert sieben und vierzig")

# %% [markdown]
# ## Things to change
#
# 1. Test sums of **four** numbers: `[make_pair(4) for _ in range(50)]`. No model has seen any. Which one is better, and is
#    it good?
# 2. Train `attending` with `score="dot"` or `score="additive"`. Does the picture change?
# 3. Give the first model more units: `hidden=64` in `learn`. How far does its line rise, and what does it cost?
#
# On the command line: `elman translate DIR --show-attention` prints the alignment, and `--attention FILE.png` draws it.
#
# ## What comes next
#
# All translations above are **greedy**: the most probable word at each step. [Notebook 11](11-decoding.ipynb) shows when
# this is wrong, and how to search for a better text.
