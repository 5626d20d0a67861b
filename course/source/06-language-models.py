# %% [markdown]
# # 06 · Language models
#
# A **language model** says how probable a text is, and which word comes next. It needs no teacher: the right answer to
# "which word comes next?" stands in the text itself. In this notebook you train one by hand, compare it with the best
# that is possible, and let it write.
#
# Rows of the lectures: 27–30, 55, 57, 61, 67.
#
# You need notebook 01 (transducers) and notebook 04 (LSTM).

# %%
import math
from collections import Counter
from itertools import pairwise

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn.functional import cross_entropy

import elman
from elman.cells import LSTM
from elman.course import check
from elman.course.stories import tell_stories
from elman.generation import Sampling
from elman.layers import RNN
from elman.state import detach

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})
torch.manual_seed(1);

# %% [markdown]
# ## The text: little stories
#
# The sentences come from a small grammar that is part of the course. That has an advantage over a real book: for each
# sentence we know its **true probability**, so that we can see how close a model comes.

# %%
train, test = tell_stories(2000, seed=1), tell_stories(300, seed=2)
for story in test[:5]:
    print(f"p = {math.exp(story.log_probability):.7f}   {story.text}")

vocabulary = ["</s>", *sorted({word for story in train for word in story.words})]
number = {word: i for i, word in enumerate(vocabulary)}
print(f"{sum(len(story.words) for story in train):,} words, {len(vocabulary)} of them different")

# %% [markdown]
# Note what a good model must remember: *the **queen** lost her golden ring by the sea, and **she** looked for it*. Between
# the two there are ten other words.
#
# ## A softmax over the vocabulary at each step (row 27)
#
# A transducer (notebook 01) whose output at each step is a probability for each of the $V$ words. The **input** at step
# $t$ is the word $w_t$, the **target** is the next word $w_{t+1}$, and the loss is how surprised the model is by it:
#
# $$h_t = R(h_{t-1}, E w_t) \qquad y_t = \mathrm{softmax}(V h_t + b) \qquad L_t = -\log y_t[w_{t+1}]$$
#
# A sentence begins after `<s>` and ends with `</s>`. One token can be both, since the end of a sentence is where the next
# one begins. A sentence of $T$ tokens, its end included, is $T$ training items, all computed in one pass. The model always
# reads the *right* words, whatever it would have said itself: **teacher forcing** (row 61).

# %%
def to_tensors(stories):
    """Inputs, targets and which of them are real: </s> w_1 … w_n and w_1 … w_n </s>."""
    rows = [torch.tensor([0, *(number[word] for word in story.words), 0]) for story in stories]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)
    inputs, targets = ids[:, :-1], ids[:, 1:]
    return inputs.clamp(min=0), targets, targets >= 0


class HandmadeLM(nn.Module):
    def __init__(self, words, size):
        super().__init__()
        self.embed = nn.Embedding(words, size)
        self.rnn = RNN(LSTM(size, size))
        self.scores = nn.Linear(size, words)  # a score for each word; softmax makes probabilities of them

    def forward(self, inputs, mask):
        hs, _ = self.rnn(self.embed(inputs), mask)
        return self.scores(hs)


torch.manual_seed(0)
by_hand = HandmadeLM(len(vocabulary), 48)
optimizer = torch.optim.Adam(by_hand.parameters(), lr=0.01)
losses = []
for update in range(240):
    start = update * 32 % (len(train) - 32)
    inputs, targets, mask = to_tensors(train[start : start + 32])
    loss = cross_entropy(by_hand(inputs, mask).transpose(1, 2), targets, ignore_index=-1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

# %%
tokens = sum(len(story.words) + 1 for story in test)
entropy = -sum(story.log_probability for story in test) / tokens

plt.plot(losses, label="the model")
plt.axhline(math.log(len(vocabulary)), color="black", linestyle=":", label=f"all {len(vocabulary)} words equally probable")
plt.axhline(entropy, color="green", linestyle="--", label="the grammar itself: nobody can do better")
plt.xlabel("update")
plt.ylabel("loss: nats a word")
plt.legend();

# %% [markdown]
# ## The probability of a text (row 28)
#
# It is a product over all positions, `</s>` included:
#
# $$P(w_{1:n}) = \prod_{i=1}^{n+1} P(w_i \mid w_0 \dots w_{i-1})$$
#
# A product of many small numbers becomes too small for a computer, so one adds logarithms instead. The **surprise** of a
# word, $-\log_2 P$, is counted in bits: one bit is a coin toss, seven bits are a choice among $2^7 = 128$.

# %%
@torch.no_grad()
def log_probs(story):
    """log P of each word of a story and of its end."""
    inputs, targets, mask = to_tensors([story])
    return by_hand(inputs, mask).log_softmax(-1)[0].gather(1, targets.T)[:, 0]


story = next(story for story in test if "lost" in story.words and "she" in story.words)
bits = -log_probs(story) / math.log(2)
plt.figure(figsize=(9, 2.6))
plt.bar(range(len(bits)), bits, color="#fd8d3c")
plt.xticks(range(len(bits)), [*story.words, "</s>"], rotation=60)
plt.ylabel("surprise in bits")
plt.title(f"log P = {log_probs(story).sum():.2f}, in the grammar {story.log_probability:.2f}");

# %% [markdown]
# Read the picture from left to right. Where the grammar leaves a choice (which hero, which treasure, where), the model is
# surprised; where the rest follows (*for it*, *and*), it is not. And *she*, far behind the hero? Its bar is small here,
# but the *her* in between has given it away. We shall ask a harder question below.
#
# Does the model know the true probabilities? Here is each test sentence once, its probability in the grammar against its
# probability in the model:

# %%
true = [story.log_probability for story in test]
learnt = [log_probs(story).sum().item() for story in test]
plt.figure(figsize=(4, 4))
plt.scatter(true, learnt, s=6)
plt.plot([-14, -5], [-14, -5], color="green", linestyle="--")
plt.xlabel("log P in the grammar")
plt.ylabel("log P in the model");

# %% [markdown]
# ## Perplexity (row 29)
#
# Long texts are less probable than short ones, so we divide by the number of tokens (with `</s>`) and take the
# exponential:
#
# $$\mathrm{perplexity} = P(w_{1:n})^{-\frac{1}{n+1}} = \exp\Big(-\frac{1}{n+1}\sum_i \log P(w_i \mid w_{<i})\Big)$$
#
# It is the number of equally probable words among which the model hesitates, on (geometric) average. A model that knows
# nothing has the perplexity $V$.

# %% [markdown]
# ### Exercise 06.1
#
# Write `perplexity`: it gets a list of natural logarithms of probabilities, one for each token.

# %%
def perplexity(log_probs): ...


check("06.1", perplexity);

# %% [markdown]
# Let us compare with models that only count: how often each word stands (unigrams), and how often it stands after the
# word before it (bigrams, with a little smoothing).

# %%
def token_lists(stories):
    return [["</s>", *story.words, "</s>"] for story in stories]


unigrams = Counter(word for row in token_lists(train) for word in row[1:])
bigrams = Counter(pair for row in token_lists(train) for pair in pairwise(row))
before = Counter(word for row in token_lists(train) for word in row[:-1])
pairs = [pair for row in token_lists(test) for pair in pairwise(row)]


def mean_exp(log_ps):
    return math.exp(-sum(log_ps) / len(log_ps))


results = {
    "no idea": float(len(vocabulary)),
    "unigrams": mean_exp([math.log(unigrams[word] / unigrams.total()) for _, word in pairs]),
    "bigrams": mean_exp([math.log((bigrams[a, b] + 0.1) / (before[a] + 0.1 * len(vocabulary))) for a, b in pairs]),
    "LSTM": math.exp(-sum(learnt) / tokens),
    "the grammar": math.exp(entropy),
}
plt.barh(list(results), list(results.values()), color="#9ecae1")
plt.gca().invert_yaxis()
plt.xscale("log")
for row, value in enumerate(results.values()):
    plt.text(value, row, f" {value:.2f}", va="center")
plt.xlim(1, 400)
plt.xlabel("perplexity of new sentences");

# %% [markdown]
# Bigrams know what may follow a word. The LSTM also knows what the sentence is about.
#
# **Careful:** perplexities can only be compared for the same tokens. A model of letters has a small perplexity because
# there are few letters, not because it is better. *Bits per character* can be compared between all of them.
#
# ## Running text: truncated backpropagation (row 67)
#
# A book is not a list of sentences: it is one long sequence. To learn from it, the computation is unrolled over a
# **window** of steps, and the gradient flows back through that window. Where one window ends, the next one begins: the
# **state is carried over**, the gradient is not. This is *truncated backpropagation through time*.
#
# The picture shows how much the loss at step 30 depends on each earlier input, with one window of 30 steps and with
# three windows of 10.

# %%
def reach(window, steps=30):
    """The gradient of the last loss with respect to each input; the state is cut between windows."""
    ids = torch.tensor([[number[word] for story in test[:5] for word in ("</s>", *story.words)][: steps + 1]])
    xs = by_hand.embed(ids[:, :-1]).detach().requires_grad_()
    state = None
    for start in range(0, steps, window):
        hs, state = by_hand.rnn(xs[:, start : start + window], None, state)
        state = detach(state)  # the cut: the values go on, the gradient does not
    cross_entropy(by_hand.scores(hs[:, -1]), ids[:, -1]).backward()
    return xs.grad[0].norm(dim=-1)


fig, axes = plt.subplots(1, 2, figsize=(9, 2.6), sharey=True)
for ax, window in zip(axes, (30, 10), strict=True):
    ax.bar(range(1, 31), reach(window) + 1e-9, color="#6baed6")
    ax.set(title=f"windows of {window} steps", xlabel="input at step", yscale="log", ylim=(1e-7, 1))
axes[0].set_ylabel("size of the gradient")
plt.tight_layout();

# %% [markdown]
# With windows of 10 the first twenty inputs get **no gradient**: the network cannot *learn* to remember over more than a
# window. It may still *use* a longer memory, since the state goes on.
#
# ## The same with Elman
#
# `elman.LanguageModel` learns from running text in this way (`bptt` is the length of a window, 70 by default; several
# streams are read side by side). It finds the vocabulary itself.

# %%
lines = [story.text for story in train]
sizes = {"model": {"embedding": 64}, "data": {"bptt": 30}}
lm = elman.LanguageModel.train(
    lines, valid=[story.text for story in tell_stories(100, seed=3)],
    recipe=sizes, hidden=64, layers=1, dropout=0.1, epochs=10, lr=0.015, seed=1,
)  # fmt: skip
lm

# %%
print("perplexity of new text:", round(lm.perplexity([story.text for story in test]), 3))
score = lm.score("the queen lost her golden ring.")
print(*(f"{token} {-p / math.log(2):.1f}" for token, p in zip(score.tokens, score.log_probs, strict=True)), sep="  ")

# %% [markdown]
# **Has it remembered the hero?** *The queen gave the dragon a red rose, but …* Now *she* must come, and the only word that
# says so stands eight words before. The same for a king (*he*) and for children (*they*):

# %%
HEROES, PRONOUNS = ["king", "queen", "children"], ["he", "she", "they"]


@torch.no_grad()
def pronouns_by_hand(text):
    ids = torch.tensor([[0, *(number[word] for word in text.split())]])
    chances = by_hand(ids, ids >= 0)[0, -1].softmax(-1)
    return [chances[number[word]].item() for word in PRONOUNS]


def pronouns_of_lm(text):
    chances = {one.text: one.probability for one in lm.complete(text + " ", k=50)}
    return [chances.get(word, 0) for word in PRONOUNS]


fig, axes = plt.subplots(1, 2, figsize=(8, 2.8))
models = {"by hand, 240 updates": pronouns_by_hand, "Elman, 10 epochs": pronouns_of_lm}
for ax, (name, pronouns) in zip(axes, models.items(), strict=True):
    table = [pronouns(f"the {hero} gave the dragon a red rose , but") for hero in HEROES]
    ax.imshow(table, cmap="Greens", vmin=0, vmax=1)
    for row, chances in enumerate(table):
        for column, p in enumerate(chances):
            ax.text(column, row, f"{p:.2f}", ha="center", va="center", color="white" if p > 0.6 else "black")
    ax.set_xticks(range(3), PRONOUNS)
    ax.set_yticks(range(3), HEROES)
    ax.set_title(name)
plt.tight_layout();

# %% [markdown]
# After the short training, all three lines are the same: the network writes good sentences and has **forgotten its hero**.
# Trained longer, it remembers. The perplexity hardly shows the difference, since such words are rare. Look at what your
# model does, not only at its score.
#
# ## Generation (row 30)
#
# To write, feed the model its own words: take the probabilities of the next word, **choose** one, and read it as the next
# input, until `</s>` comes. This is called *autoregressive* generation.

# %%
@torch.no_grad()
def write(lm, choose, longest=30):
    """One sentence: `choose` makes a word number of the logits."""
    lm.net.eval()
    state, token, words = lm.net.begin(1), torch.tensor([lm.end]), []
    state, _ = lm.net.step(state, token)  # one sentence has ended before ours begins
    for _ in range(longest):
        state, logits = lm.net.step(state, token)
        token = torch.tensor([choose(logits[0])])
        if token.item() == lm.end:
            break
        words.append(lm.tokenizer.items[token])
    return " ".join(words)


torch.manual_seed(3)
print("greedy: ", write(lm, lambda logits: int(logits.argmax())))
for _ in range(4):
    print("sampled:", write(lm, lambda logits: int(torch.multinomial(logits.softmax(-1), 1))))

# %% [markdown]
# ## Sampling and its temperature (row 57)
#
# **Greedy** choice always takes the most probable word and writes one single sentence. **Sampling** draws a word as often
# as it is probable. Between and beyond the two stands the **temperature** $T$: divide the scores by $T$ before the softmax.
# Below 1 probable words become more probable, above 1 all become more alike.

# %% [markdown]
# ### Exercise 06.2
#
# Write `heat(logits, temperature)`: the probabilities of all words at this temperature, as a tensor.

# %%
def heat(logits, temperature): ...


check("06.2", heat);

# %%
@torch.no_grad()
def next_logits(text):
    ids = [lm.end, *lm.tokenizer.encode(text)]
    return lm.net(torch.tensor([ids]))[0, -1]


logits = next_logits("the queen came back from the")
best = logits.topk(8).indices
fig, axes = plt.subplots(1, 3, figsize=(9, 2.8), sharey=True)
for ax, temperature in zip(axes, (0.4, 1.0, 2.5), strict=True):
    ax.bar(range(8), (logits / temperature).softmax(-1)[best], color="#74c476")
    ax.set_xticks(range(8), [lm.tokenizer.items[i] for i in best], rotation=60)
    ax.set_title(f"temperature {temperature}")
axes[0].set_ylabel("probability")
fig.suptitle("the queen came back from the …", y=1.04);

# %% [markdown]
# `lm.generate` does all of this, and more. The prompt `"\n"` is an ended line: the model has learnt from running text, so
# it begins a sentence best after the end of another one.

# %%
for temperature in (0.3, 0.8, 1.5, 3.0):
    print(f"temperature {temperature}")
    for text in lm.generate("\n", Sampling(temperature=temperature, seed=1), n=3, max_tokens=25):
        print("  ", text.text.strip())

# %% [markdown]
# Cold: always the same safe sentences. Hot: the grammar breaks. Two filters cut off the improbable rest and leave the
# likely words as they are: **top-k** keeps the $k$ most probable words, **top-p** keeps the fewest words whose
# probabilities reach $p$ together.

# %%
for name, how in {"top_k=3": Sampling(top_k=3, seed=1), "top_p=0.8": Sampling(top_p=0.8, seed=1)}.items():
    print(name)
    for text in lm.generate("\n", how, n=3):
        print("  ", text.text.strip())

# %% [markdown]
# ### Exercise 06.3
#
# Write `keep_top_p(probabilities, p)` for a tensor of probabilities: keep the most probable words until their sum
# **reaches** `p` (the word that reaches it is kept, too), set the others to zero, and divide so that all sum to one.

# %%
def keep_top_p(probabilities, p): ...


check("06.3", keep_top_p);

# %% [markdown]
# ## Two matrices that are one (row 55)
#
# The embedding $E$ has a row for each word: what the word means as an *input*. The softmax has a row for each word, too:
# what the state must look like for the word to come *next*. Are they actually different? With **weight tying** they are
# the same matrix, $y_t = \mathrm{softmax}(E h_t)$. Elman ties them unless you say `tied=false`.

# %%
names = {name: tuple(weight.shape) for name, weight in lm.net.named_parameters()}
print(names)

# %% [markdown]
# ### Exercise 06.4
#
# A language model has a vocabulary of 33,000 words and vectors of 400 features, in the embedding and in the last layer.
# How many parameters does weight tying save?

# %%
saved = ...
check("06.4", saved);

# %% [markdown]
# What do the rows of $E$ look like? Here they are, projected to the two directions in which they differ most. The colour is
# the part of speech, which the model has never been told.

# %%
tag_of = {word: tag for story in train for word, tag in zip(story.words, story.tags, strict=True)}
rows = [i for i, word in enumerate(lm.tokenizer.items) if tag_of.get(word) in ("NOUN", "VERB", "ADJ", "DET")]
E = lm.net.embed.E.weight.detach()[rows]
_, _, directions = torch.pca_lowrank(E, 2, niter=10)
points = (E - E.mean(0)) @ directions
colors = {"NOUN": "#3182bd", "VERB": "#e6550d", "ADJ": "#31a354", "DET": "#756bb1"}
plt.figure(figsize=(9, 5.5))
for (x, y), i in zip(points.tolist(), rows, strict=True):
    word = lm.tokenizer.items[i]
    plt.text(x, y, word, color=colors[tag_of[word]], fontsize=9)
plt.xlim(points[:, 0].min() - 0.2, points[:, 0].max() + 0.5)
plt.ylim(points[:, 1].min() - 0.2, points[:, 1].max() + 0.2)
plt.title("nouns blue, verbs orange, adjectives green, determiners violet");

# %% [markdown]
# ## Things to change
#
# 1. Train on 200 stories instead of 2,000: `train = tell_stories(200, seed=1)`. Who suffers more, the bigrams or the LSTM?
# 2. Replace `LSTM` by `Elman` (from `elman.cells`) in `HandmadeLM`. Look at the bar of *she* again.
# 3. Take a cell of your own: copy the formula `mgu` from notebook 04, and give `cell=mgu` to `elman.LanguageModel.train`.
# 4. Train another model that reads letters, and see which words it invents:
#    `letters = elman.LanguageModel.train(lines, recipe={"tokens": {"kind": "chars"}}, hidden=96, layers=1, epochs=2, lr=0.01)`,
#    then `letters.generate("\n", Sampling(temperature=1.5), n=5)`.
#
# Train on a book of your own with `elman train lm --train book.txt --tokens chars --minutes 5 --out models/book`, and
# read a page that it writes: `elman generate models/book --passage --sample --temperature 0.8`.
#
# ## What comes next
#
# A model that knows the next word can help people who write. **Notebook 07** completes words while they are typed, and
# reads a text that never ends.
