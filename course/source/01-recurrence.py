# %% [markdown]
# # 01 · The recurrence
#
# A text is a sequence: its words come one after the other, and there may be three of them or three hundred. Most
# networks want an input of a fixed size. A **recurrent network** reads a sequence of any length, one step at a time,
# and keeps what it has read in a vector, its **state**. In this notebook you build one from a single line of Python,
# look inside it while it reads a word, and train it twice.
#
# Rows of the lectures: 1–7, 10, 11.
#
# You need Python and a little linear algebra: what a vector is, and how a matrix multiplies it.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

from elman.cells import Cell, Elman, count_parameters
from elman.course import check
from elman.layers import RNN

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})
torch.manual_seed(1);

# %% [markdown]
# ## What recurrent networks replace (row 1)
#
# Give each word a vector (here: three random numbers). There are two old ways to make one vector of a sentence:
#
# - the **average** of its word vectors (CBOW, a "bag of words");
# - the vectors of the first words **side by side**, in a window of fixed size.

# %%
vectors = {word: torch.randn(3) for word in "the dog bites man barks".split()}


def average(sentence):
    return torch.stack([vectors[word] for word in sentence.split()]).mean(0)


def window(sentence, size=4):
    words = [vectors[word] for word in sentence.split()[:size]]
    padding = [torch.zeros(3)] * (size - len(words))
    return torch.cat(words + padding)


print("average, dog bites man:", average("dog bites man").numpy().round(2))
print("average, man bites dog:", average("man bites dog").numpy().round(2))
print("window of 4:", window("dog bites man").numpy().round(1))

# %% [markdown]
# The average has lost who bites whom. The window knows the order, but word five does not exist for it, and the same
# word at place one and at place two has nothing in common. We want something that reads in order and never stops
# at a fixed length.

# %% [markdown]
# ## The abstraction: R and O (row 2)
#
# At each step $i$ there are the input $x_i$ and the old state $s_{i-1}$. Two functions do the rest:
#
# $$s_i = R(s_{i-1}, x_i) \qquad y_i = O(s_i)$$
#
# $R$ makes the new state, $O$ makes an output of it. That is all. The network is a loop:

# %%
def rnn_star(R, O, xs, s):
    """All outputs y_1 … y_n. The lectures call this RNN*."""
    ys = []
    for x in xs:
        s = R(s, x)
        ys.append(O(s))
    return ys


def rnn(R, O, xs, s):
    """The last output y_n alone. The lectures call this RNN."""
    return rnn_star(R, O, xs, s)[-1]


numbers = [3, 1, 4, 1, 5, 9, 2, 6]
print("sum so far:    ", rnn_star(lambda s, x: s + x, lambda s: s, numbers, 0))
print("length so far: ", rnn_star(lambda s, x: s + 1, lambda s: s, numbers, 0))
print("is it even?    ", rnn_star(lambda s, x: s + 1, lambda s: s % 2 == 0, numbers, 0))

# %% [markdown]
# The state is a **memory**, and $R$ says how one more input changes it. The third line shows why there is an $O$: the
# state is a number, the output is yes or no.

# %% [markdown]
# ### Exercise 01.1
#
# Write an $R$ that remembers the **largest number so far**. The first state is `s = float("-inf")`.

# %%
def R(s, x): ...


check("01.1", R);

# %% [markdown]
# In Elman, $R$ and $O$ live in a `Cell`. $R$ has two halves: `project` sees only the input (so it can be computed for
# all steps at once), `step` sees the state. `RNN(cell)` is the loop.

# %%
class RunningSum(Cell):
    """s' = s + x,  y = s'"""

    def __init__(self, size):
        super().__init__()
        self.input_size = self.output_size = size

    def initial(self, like):
        return like.new_zeros(like.shape[0], self.output_size)

    def project(self, x):
        return x

    def step(self, state, x):
        return state + x

    def output(self, state):
        return state


xs = torch.tensor(numbers).float().reshape(1, 8, 1)  # one sequence, eight steps, one feature
adder = RNN(RunningSum(1))
ys, last = adder(xs)
print("RNN*, all outputs:", ys.flatten().tolist())
print("RNN, the last one:", adder.last_output(xs).item())

# %% [markdown]
# Shapes are always (batch, steps, features): a batch of sequences, each a row of vectors.
#
# ## What is $x_i$? (row 3)
#
# Any vector. For text there are two common ones: a **one-hot** row (all zeros, and a one at the place of the letter)
# and an **embedding** (a row of trained numbers for each letter or word). They are close relatives: a one-hot row times
# a matrix picks one row of that matrix, and this is what an embedding looks up.

# %%
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letter_ids(word):
    return torch.tensor([[LETTERS.index(letter) for letter in word]])


def one_hot(word):
    return nn.functional.one_hot(letter_ids(word), 26).float()


table = nn.Embedding(26, 4)
looked_up = table(letter_ids("banana"))
multiplied = one_hot("banana") @ table.weight
print(tuple(one_hot("banana").shape), tuple(looked_up.shape))
print("the same vectors:", torch.allclose(looked_up, multiplied))

# %% [markdown]
# ## The simple recurrent network (row 10)
#
# Jeffrey Elman's network of 1990 is the simplest $R$ that can be trained: multiply, add, squash.
#
# $$s_i = g(s_{i-1} W^s + x_i W^x + b) \qquad y_i = s_i$$
#
# $g$ is $\tanh$ or ReLU. A cell shows its own equations; $h$ is the state, $U$ is the lecture's $W^s$, and $W$ its $W^x$.

# %%
cell = Elman(26, 8)
cell

# %% [markdown]
# Nothing is hidden in there. Here is one step by hand:

# %%
x = one_hot("b")[:, 0]
h = torch.zeros(1, 8)
by_hand = torch.tanh(x @ cell.W.T + h @ cell.U[0].T + cell.b)
by_cell = cell.step(cell.initial(x), cell.project(x)).h
print("the same:", torch.allclose(by_hand, by_cell))

# %% [markdown]
# Now let it read *banana*. Each column is the state after one letter. The weights are random: the network has learned
# nothing yet. Still, look at the three columns of *a*: the letter is the same, the state is not, because the
# state depends on everything before.

# %%
def show_states(cell, words):
    fig, axes = plt.subplots(1, len(words), figsize=(3.2 * len(words), 2.6), layout="constrained")
    for ax, word in zip(axes, words, strict=True):
        states = RNN(cell)(one_hot(word))[0][0].detach()
        image = ax.imshow(states.T, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
        ax.set_xticks(range(len(word)), word)
        ax.set(title=word, ylabel="unit")
    fig.colorbar(image, ax=axes, label="value of the state")
    plt.show()


show_states(cell, ["banana", "bandana"])

# %% [markdown]
# *banana* and *bandana* begin with the same three letters, so the first three columns are equal. After the *d* they
# are different and never become equal again.
#
# ### Exercise 01.2
#
# Write one step of the simple network with $\tanh$. `h` and `x` are vectors, `W` and `U` matrices with one row
# for each unit (so that `W @ x` has one number for each unit), `b` is a vector.

# %%
def step(h, x, W, U, b): ...


check("01.2", step);

# %% [markdown]
# ## The first state (row 4)
#
# $s_0$ is zero if we say nothing. We may also give one. So a text can be read in pieces: the state that is left after
# the first piece is the first state of the next one.

# %%
reader = RNN(cell)
whole, _ = reader(one_hot("banana"))
_, state = reader(one_hot("ban"))
rest, _ = reader(one_hot("ana"), None, state)
print("'ban' then 'ana' = 'banana':", torch.allclose(rest[0, -1], whole[0, -1]))
cold, _ = reader(one_hot("ana"))
print("'ana' alone      = 'banana':", torch.allclose(cold[0, -1], whole[0, -1]))

# %% [markdown]
# ## One set of weights for all positions (row 5)
#
# $R$ and $O$ are the same at every position. We may *unroll* the loop: draw one copy of the network for each step. All
# copies have the same weights. So each copy adds its share to the gradient of these weights. Below, we give every
# position a real copy of $U$ and compare.

# %%
word = one_hot("banana")
h = torch.zeros(1, 8)
copies = [cell.U[0].detach().clone().requires_grad_() for _ in range(6)]
for i, U in enumerate(copies):
    h = torch.tanh(word[:, i] @ cell.W.T + h @ U.T + cell.b)
h.sum().backward()
shares = [U.grad.norm().item() for U in copies]

cell.zero_grad()
RNN(cell).last_output(word).sum().backward()
print("sum of the shares = gradient of the shared U:", torch.allclose(sum(U.grad for U in copies), cell.U[0].grad))

plt.figure(figsize=(5, 2.4), layout="constrained")
plt.bar(range(6), shares)
plt.xticks(range(6), "banana")
plt.title("How much each position adds to the gradient of U")
plt.ylabel("norm");

# %% [markdown]
# The first bar is zero, since $s_0$ is zero. The others grow towards the end of the word: what happened long ago
# counts less. That is the subject of notebook 02.
#
# ## What the recurrence costs (row 11)
#
# A feed-forward layer from $D$ features to $H$ units has $H \cdot D$ weights (and $H$ biases). The recurrence adds the
# matrix $U$ from $H$ units to $H$ units: $H^2$ weights more, however long the text is.

# %%
sizes = [4, 8, 16, 32, 64, 128]
plain = [size * 26 for size in sizes]
recurrent = [count_parameters(Elman(26, size, bias=False)) for size in sizes]
print("H² for each size:", [a - b for a, b in zip(recurrent, plain, strict=True)])

plt.figure(figsize=(5, 2.6), layout="constrained")
plt.plot(sizes, recurrent, "o-", label="simple recurrent network")
plt.plot(sizes, plain, "o-", label="feed-forward layer")
plt.xlabel("units H")
plt.ylabel("weights")
plt.title("26 input features, no bias")
plt.legend();

# %% [markdown]
# ### Exercise 01.3
#
# How many parameters has `Elman(26, 10)`, biases included? Compute it before you ask Python.

# %%
parameters = ...
check("01.3", parameters);

# %% [markdown]
# ## An acceptor: one answer for a whole word (row 6)
#
# Now we train. An **acceptor** (or encoder) reads everything and answers once: the loss is on $y_n$, directly or
# through a small network (an MLP). Our question: is a word spelt forwards or backwards? *letter* or *rettel*? The words
# are those of Python's own documentation.

# %%
import random
import re
from pydoc_data.topics import topics

words = sorted(set(re.findall(r"\b[a-z]{5,9}\b", " ".join(topics.values()))))
random.Random(0).shuffle(words)
print(len(words), "words:", *words[:8])


def make_batch(some):
    """Letters (0 is padding), which places are letters, and 1 where a word is reversed."""
    backwards = [i % 2 for i in range(len(some))]
    spelt = [word[::-1] if back else word for word, back in zip(some, backwards, strict=True)]
    ids = [torch.tensor([1 + LETTERS.index(letter) for letter in word]) for word in spelt]
    ids = nn.utils.rnn.pad_sequence(ids, batch_first=True)
    return ids, ids > 0, torch.tensor(backwards)


class Acceptor(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.embed = nn.Embedding(27, cell.input_size)
        self.rnn = RNN(cell)
        self.mlp = nn.Sequential(nn.Linear(cell.output_size, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, ids, mask):
        return self.mlp(self.rnn.last_output(self.embed(ids), mask))


class Bag(nn.Module):
    """The average of the letters: the baseline of row 1."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(27, 32, padding_idx=0)
        self.mlp = nn.Sequential(nn.Linear(32, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, ids, mask):
        return self.mlp(self.embed(ids).sum(1) / mask.sum(1, keepdim=True))


held_out = make_batch(words[-400:])


def train(net, updates=300):
    """Accuracy on 400 words that are not trained on, every 20 updates."""
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    draw, curve = random.Random(0), []
    for update in range(updates + 1):
        if update % 20 == 0:
            ids, mask, labels = held_out
            curve.append((net(ids, mask).argmax(1) == labels).float().mean().item() * 100)
        ids, mask, labels = make_batch(draw.sample(words[:-400], 64))
        loss = nn.functional.cross_entropy(net(ids, mask), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return curve


torch.manual_seed(1)
acceptor = Acceptor(Elman(16, 32))
curves = {"simple recurrent network": train(acceptor), "bag of letters": train(Bag())}
for name, curve in curves.items():
    plt.plot(range(0, 301, 20), curve, "o-", markersize=3, label=f"{name}: {curve[-1]:.0f} %")
plt.axhline(50, color="gray", linestyle=":", label="guessing")
plt.xlabel("updates")
plt.ylabel("accuracy on new words, %")
plt.title("Forwards or backwards?")
plt.legend();

# %% [markdown]
# The bag of letters can only guess: a word and its mirror image have the same letters. The recurrent network sees the
# order. Try it with words of your own:

# %%
def direction(word):
    ids = 1 + letter_ids(word)
    backwards = acceptor(ids, ids > 0).softmax(-1)[0, 1].item()
    return f"{word:>12}  {'backwards' if backwards > 0.5 else 'forwards'}  {max(backwards, 1 - backwards):.2f}"


for word in ["reading", "gnidaer", "station", "noitats", "elman"]:
    print(direction(word))

# %% [markdown]
# Most answers are right. The network also gives an answer, and a sure one, where it cannot know: *elman* is no word of
# its data. A high probability is not knowledge.
#
# ## A transducer: an answer at each step (row 7)
#
# A **transducer** answers at every position, and every position has a loss. The loss of the sequence is their sum
# (lecture 000) or their mean (lecture 003). The task here: how many vowels have been read so far? The network must
# count.

# %%
VOWELS = "aeiou"


def count_vowels(word):
    return torch.tensor([min(4, sum(c in VOWELS for c in word[: i + 1])) for i in range(len(word))])


class Transducer(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.rnn = RNN(cell)
        self.scores = nn.Linear(cell.output_size, 5)  # 0, 1, 2, 3, 4 or more vowels

    def forward(self, xs):
        return self.scores(self.rnn(xs)[0])


torch.manual_seed(0)
counter = Transducer(Elman(26, 24))
optimizer = torch.optim.Adam(counter.parameters(), lr=0.01)
draw = random.Random(0)
by_length = {n: [word for word in words if len(word) == n] for n in range(5, 10)}
for _ in range(300):
    some = draw.sample(by_length[draw.randint(5, 9)], 32)
    right = torch.stack([count_vowels(word) for word in some])
    losses = nn.functional.cross_entropy(
        counter(torch.cat([one_hot(word) for word in some])).transpose(1, 2), right, reduction="none"
    )
    loss = losses.mean()  # a sum over the positions would only be another step size
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for word in ["education", "rhythm", "banana"]:
    print(" ".join(word))
    print(" ".join(map(str, counter(one_hot(word)).argmax(-1)[0].tolist())))
print("losses of the last word, sum and mean:", round(losses[-1].sum().item(), 3), round(losses[-1].mean().item(), 3))

# %% [markdown]
# The network counts well, but not perfectly: *rhythm* has none of the five vowels, and there is hardly a word like it to
# learn from.
#
# ## Things to change
#
# 1. Give the acceptor two units instead of 32: `Acceptor(Elman(16, 2))`. How much order fits into two numbers?
# 2. Replace `Elman` by `ReLUElman` (from `elman.cells`) in the acceptor and in `show_states`. What is different about the states?
# 3. Train the acceptor to find words that contain a double letter (*letter*, *apple*) instead of reversed ones: change
#    the labels in `make_batch`.
#
# ## What comes next
#
# The picture of the shares of the gradient showed that the beginning of a word counts little. In **notebook 02** we
# measure how fast that happens, and why: gradients that vanish, and gradients that explode.
