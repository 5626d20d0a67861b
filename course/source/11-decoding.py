"""Notebook 11: from probabilities to a text."""

# %% [markdown]
# # 11 · Decoding: greedy, sampling, beam search
#
# A decoder gives a probability to every next word. It does not say which word to write. In this notebook you meet the
# ways to choose: the **most probable** word, a **random** one, or a **search** for the most probable text. You see each
# of them on one small model whose probabilities fit into a picture.
#
# Rows of the lectures: 56–60.
#
# You need notebook 09 (the step of a decoder). Notebook 10 is not needed.

# %%
import math
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import torch
from IPython.display import Image

import elman
from elman.course import check
from elman.course.number_words import english_number
from elman.decoding import BannedTokens, Beam, ForcedPrefix, Greedy, MinLength, Sample, rollout
from elman.inspect.tree_plot import plot_tree
from elman.tasks.seq2seq import DecodingConfig, Seq2SeqExample
from elman.tasks.seq2seq.search_tree import search_tree

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})

# %% [markdown]
# ## The task: say a year
#
# How do you read *2007* aloud? People say "two thousand seven", "two thousand and seven", "twenty oh seven", and some
# say "two double oh seven". One input has **several right outputs**. This is normal for generation, and it is why the
# choice of a decoding method matters. The numbers below say how many of 20 speakers use each form. (We made them up.)


# %%
def readings(year):
    """The ways to say a year, and how many of 20 speakers say it so."""
    rest = english_number(year % 100)
    if year < 2000:
        return {f"nineteen {rest}": 20}
    if year == 2000:
        return {"two thousand": 20}
    if year < 2010:
        two = {f"two thousand {rest}": 5, f"two thousand and {rest}": 4, f"two double oh {rest}": 4}
        return {**two, f"twenty oh {rest}": 7}
    return {f"twenty {rest}": 12, f"two thousand {rest}": 4, f"two thousand and {rest}": 4}


pairs = [(str(year), said) for year in range(1990, 2020) for said, n in readings(year).items() for _ in range(n)]
model = elman.Seq2Seq.train(
    pairs,
    recipe={
        "tokens": {"source": {"kind": "chars"}, "target": {"kind": "words"}},
        "model": {"embedding": 16, "label_smoothing": 0.0},
        "data": {"batch_tokens": 256, "holdout": 0.0},  # no validation: it learns how often each form is used
    },
    layers=1,
    hidden=48,
    dropout=0.0,
    epochs=25,
    lr=0.02,
)
model

# %% [markdown]
# As in notebook 09, all that we need of the model is its **step**: from a state and a token to a new state and the
# logits of the next token. `begin` reads a year. `copies` gives as many rows as we want to write about it.

# %%
items = model.tokenizers.target.items
number_of = {word: number for number, word in enumerate(items)}
view = model.sequence_model()


def begin(year, copies=1):
    """The step, the first state, and where to start and to stop."""
    begun = view.begin(view.collate(model.encode([Seq2SeqExample(str(year), ("",))])), copies)
    return begun.step, begun.state, {"start": begun.start, "stop": begun.stop, "limit": begun.limit}


@torch.no_grad()
def next_words(year, words=()):
    """The probability of each next word, after some words."""
    step, state, limits = begin(year)
    for token in [limits["start"], *(torch.tensor([number_of[word]]) for word in words)]:
        state, logits = step(state, token)
    return dict(zip(items, logits[0].softmax(0).tolist()))


for words in [(), ("two",), ("two", "thousand")]:
    best = Counter(next_words(2007, words)).most_common(3)
    print(" ".join(words) or "(start)", "->", ", ".join(f"{word} {p:.2f}" for word, p in best))

# %% [markdown]
# The probability of a whole text is the **product** over its words and its end `</s>`. So all texts together form a tree:
# each path from the left to the right is a text. Here is this tree for 2007, without branches below 2 %. The number at
# the end of a path is the probability of the text.


# %%
def grow(year, words=(), p=1.0):
    """All paths of the tree with their probability, from the first branch to the last."""
    if words and words[-1] == "</s>":
        return [(words, p)]
    following = sorted(next_words(year, words).items(), key=lambda pair: -pair[1])
    return [path for word, q in following if p * q > 0.02 for path in grow(year, (*words, word), p * q)]


def draw(paths, marked):
    """A tree of paths; a marked one has a colour: its words and the colour."""
    fig, ax = plt.subplots(figsize=(8, 3))
    heights = {}
    for row, (words, p) in enumerate(paths):
        for depth in range(len(words) + 1):
            heights.setdefault(words[:depth], []).append(-row)
        ax.text(len(words) + 0.1, -row, f"{p:.2f}", va="center", fontsize=11)
    place = {prefix: sum(rows) / len(rows) for prefix, rows in heights.items()}
    for prefix, y in place.items():
        if prefix:
            colours = [colour for text, colour in marked.items() if text[: len(prefix)] == prefix] or ["0.75"]
            line = [place[prefix[:-1]], y]
            for shift, colour in enumerate(colours):
                ax.plot([len(prefix) - 1, len(prefix)], [h + 0.08 * shift for h in line], color=colour, lw=2.5)
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
            ax.text(len(prefix) - 0.4, 0.4 * line[0] + 0.6 * y, prefix[-1], ha="center", va="center", bbox=box)
    ax.axis("off")
    return ax


tree = grow(2007)
draw(tree, {}).set_title("What can follow, and how probable it is: 2007");

# %% [markdown]
# ## Greedy (row 56)
#
# **Always take the most probable word.** It is fast, and it gives one answer. But look at the picture below.

# %%
step, state, limits = begin(2007)
written = rollout(step, state, Greedy(), **limits)
greedy = tuple(items[i] for i in written.tokens[0])
best = max(tree, key=lambda path: path[1])[0]
print("greedy       ", *greedy, f" p = {dict(tree)[greedy]:.2f}")
print("most probable", *best, f" p = {dict(tree)[best]:.2f}")
draw(tree, {greedy: "tab:red", best: "tab:green"}).set_title("Greedy (red) leaves the best text (green) at the first word");

# %% [markdown]
# More than half of the speakers begin with *two*, so greedy begins with *two*. But they go on in three different ways,
# and each of these ways is less common than *twenty oh seven*. Greedy cannot know this at the first word, and it never
# goes back.
#
# ### Exercise 11.1
#
# A model writes texts of two words. For the first word, P(a) = 0.6 and P(b) = 0.4. After *a* comes *c* with 0.5, *d* with
# 0.3 or *e* with 0.2. After *b* comes *f* with 0.9 or *g* with 0.1. What is the probability of the text that **greedy**
# finds, and that of the **most probable** text? Answer with both numbers.

# %%
greedy_and_best = (..., ...)
check("11.1", greedy_and_best);

# %% [markdown]
# ## Sampling (row 57)
#
# **Draw each word at random** with its probability. Then texts come as often as they are probable: nothing is lost, but
# a rare mistake of the model is written from time to time, too. We draw 1,000 texts at once.


# %%
def sample(year, n=1000, **options):
    """Count the texts of n samples."""
    step, state, limits = begin(year, copies=n)
    policy = Sample(generator=torch.Generator().manual_seed(0), **options)
    with torch.no_grad():
        rows = rollout(step, state, policy, **limits).tokens.tolist()
    return Counter(" ".join(items[i] for i in row if items[i][0] != "<") for row in rows)


drawn = sample(2007)
for words, p in tree:
    text = " ".join(words[:-1])
    print(f"{text:24} probability {p:.3f}   drawn {drawn[text] / 1000:.3f}")
print("all others:", sum(drawn.values()) - sum(drawn[" ".join(words[:-1])] for words, _ in tree))

# %% [markdown]
# The **temperature** changes the distribution before drawing: $p' \propto p^{1/T}$. Below 1 the probable words become
# more probable, and near 0 sampling becomes greedy. Above 1 the words become more alike, and mistakes become frequent.
# `top_k` and `top_p` forbid improbable words: only the k best, or only the best ones that together have probability p.

# %%
settings = {"T = 0.3": {"temperature": 0.3}, "T = 1": {}, "T = 2": {"temperature": 2.0}}
settings["T = 2, top 3"] = {"temperature": 2.0, "top_k": 3}
known = [" ".join(words[:-1]) for words, _ in tree]
fig, ax = plt.subplots()
for shift, (name, options) in enumerate(settings.items()):
    counts = sample(2007, **options)
    heights = [counts[text] for text in known] + [sum(counts.values()) - sum(counts[text] for text in known)]
    ax.bar([x + 0.2 * shift for x in range(len(heights))], heights, width=0.2, label=name)
labels = [text.replace(" seven", "\nseven") for text in known]
ax.set_xticks([x + 0.3 for x in range(len(labels) + 1)], [*labels, "other\n(mistakes)"], fontsize=8)
ax.set(ylabel="of 1,000 samples", title="A high temperature writes mistakes; top-k forbids many of them")
ax.legend();

# %% [markdown]
# Look at T = 0.3: now *two thousand seven* is drawn most often, although *twenty oh seven* is more probable. A low
# temperature makes each **step** greedy, and so it makes the same mistake as greedy.

# %% [markdown]
# ## Beam search of fixed width (row 58)
#
# **Keep the k best hypotheses of each length**, not just one. At each step every hypothesis is continued by every word,
# and the k best of all these continuations stay. With k = 1 this is greedy. Here is each step for k = 4. The numbers are
# log-probabilities (the sum of the logarithms of the words).


# %%
def show_search(year, beam):
    """Every step of a search: the places in the beam and what is kept in them."""
    step, state, limits = begin(year)
    for event in beam.trace(step, state, **limits):
        kept = [f"{' '.join(items[i] for i in one.tokens)} {one.score:.2f}" for one in event.kept]
        print(f"{event.position + 1}. width {event.width}: " + " | ".join(kept))


show_search(2007, Beam(width=4, length_penalty=0))

# %% [markdown]
# *twenty* was second after the first step. Because it stayed in the beam, its good continuation is found in the end. How
# wide must a beam be? Here is the probability of the best text that it finds:

# %%
step, state, limits = begin(2007)
for width in (1, 2, 3, 4, 8):
    ((found,),) = Beam(width=width, length_penalty=0)(step, state, **limits)
    print(f"k = {width}: {' '.join(items[i] for i in found.tokens):28} p = {math.exp(found.score):.3f}")

# %% [markdown]
# A beam of 2 is enough here. Wider beams cost more and find nothing better. `model.translate(["2007"], beam=2)` does the
# same search. Here is the search with a beam of 2 as a tree: what was kept, what was pruned, and why. On the command line
# `elman translate DIR --beam 2 --beam-tree tree.png` draws it.

# %%
with TemporaryDirectory() as folder:
    path = Path(folder) / "tree.png"
    plot_tree(search_tree([model], "2007", DecodingConfig(beam=2, length_penalty=0.0)), path)
    picture = Image(path.read_bytes(), width=560)
picture

# %% [markdown]
# ### Exercise 11.2
#
# Write one step of beam search. `beam` is a list of pairs: the words so far (a tuple) and their log-probability.
# `next_log_probs(words)` gives a dictionary: each next word and its log-probability. Return the `width` best
# continuations, as pairs like those of `beam`, **best first**.


# %%
def beam_step(beam, next_log_probs, width):
    ...


check("11.2", beam_step);

# %% [markdown]
# ## Beam search of variable width (row 59)
#
# Should a model that is certain keep as many hypotheses as one that is not? A beam of **variable width** keeps every
# hypothesis whose probability is within a **factor** of the best one: $p \cdot \mathrm{factor} \ge p_{best}$. For 2007 it
# keeps several. For 1995, where the model is certain, it keeps one, and this is as fast as greedy.

# %%
variable = Beam(width=8, factor=5, narrow=False, length_penalty=0)
fig, ax = plt.subplots()
for shift, year in enumerate((2007, 2015, 1995)):
    step, state, limits = begin(year)
    kept = [len(event.kept) for event in variable.trace(step, state, **limits)]
    ax.bar([x + 1 + 0.25 * shift for x in range(len(kept))], kept, width=0.25, label=str(year))
ax.set(xlabel="step", ylabel="hypotheses kept", title="A factor of 5 keeps many where the model is uncertain")
ax.set_xticks([1.25, 2.25, 3.25, 4.25], ["1", "2", "3", "4"])
ax.set_ylim(0, 5.5)
ax.legend(title="year");

# %% [markdown]
# ### Exercise 11.3
#
# After a step these hypotheses have the following probabilities:
#
# *red* 0.30, *blue* 0.16, *green* 0.14, *black* 0.02
#
# Which of them does a beam of width 3 with factor 2 keep? Answer with a list of words.

# %%
kept = ...
check("11.3", kept);

# %% [markdown]
# ## The beam narrows (row 60)
#
# A hypothesis that wrote `</s>` is completed. In lecture 001 it **takes its place in the beam with it**: "reduce beam
# width every time a sequence is completed". So the search ends when k texts are completed: no place is left then. Look at
# the width of the last step.

# %%
step, state, limits = begin(2007)
for event in Beam(width=4, n_best=4, length_penalty=0).trace(step, state, **limits):
    print(f"step {event.position + 1}: width {event.width}, kept {len(event.kept)}, completed {event.completed}")

# %% [markdown]
# ## Length
#
# Every further word multiplies the probability by a number below 1. So a search for the most probable text **prefers short
# texts**, and wide beams make this worse. The usual remedy ranks completed texts by $\log p / n^{\alpha}$, where n is the
# number of tokens. With α = 0 this is log p itself. With α = 1 it is the mean of a token.

# %%
short, long = (-1.4, 3), (-2.1, 7)  # log p and number of tokens
alphas = [i / 50 for i in range(76)]
fig, ax = plt.subplots()
for (log_p, n), name in ((short, "3 tokens, log p = -1.4"), (long, "7 tokens, log p = -2.1")):
    ax.plot(alphas, [log_p / n**alpha for alpha in alphas], label=name)
ax.set(xlabel="length penalty α", ylabel="score = log p / n^α", title="A larger α prefers the longer text")
ax.legend();

# %% [markdown]
# ### Exercise 11.4
#
# A short answer has 2 tokens and log p = -1. A long answer has 8 tokens and log p = -2. At which α do both have **the same
# score**? (Above it, the long answer wins.)

# %%
alpha = ...
check("11.4", alpha);

# %% [markdown]
# In Elman it is the option `length_penalty` of `Beam`, of a model and of the commands. `max_tokens` and `stop` (row 38)
# bound the length in any case.
#
# ## Constraints
#
# Sometimes you know more than the model: a word that must not be written, a beginning that is given, a length that is
# needed. A **constraint** sets the logits of forbidden words to minus infinity before anything is chosen. It works with
# every method above, and it changes only what is chosen, never the probabilities that are reported.


# %%
def constrained(*constraints):
    step, state, limits = begin(2007)
    ((found,),) = Beam(width=4)(step, state, constraints=constraints, **limits)
    return " ".join(items[i] for i in found.tokens)


end = number_of["</s>"]
print("free                 ", constrained())
print("without 'oh'         ", constrained(BannedTokens(((number_of["oh"],),))))
print("beginning with 'two' ", constrained(ForcedPrefix(torch.tensor([[number_of["two"]]]))))
print("at least four words  ", constrained(MinLength(4, (end,))))

# %% [markdown]
# ## Things to change
#
# 1. Change the numbers in `readings`, so that 10 of 20 speakers say *twenty oh*. Train again. Is greedy still wrong?
# 2. Draw the tree of 2000 or of 1995 (`draw(grow(1995), {})`). What does a certain model look like? Which mistakes has
#    it kept from its neighbours?
# 3. Search with `Beam(width=4, factor=1.5, length_penalty=0)`. Which factor is the smallest that still finds the best
#    text of 2007?
#
# ## What comes next
#
# All methods here use the model's own words as its next input. In training it was different: there the model always read
# the right words. [Notebook 12](12-exposure-bias.ipynb) measures what this costs, and tries the remedies of the lecture.
