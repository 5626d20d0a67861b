# %% [markdown]
# # 07 · Autocompletion and streaming
#
# A telephone that suggests the next word is a language model at work. In this notebook a model **completes words while
# they are typed**, also in the middle of a word, and you count the keys that it saves. Then the text never ends: a model
# that **streams** keeps all it has read in a state of fixed size.
#
# Rows of the lectures: 4, 31.
#
# You need notebook 06 (language models).

# %%
from collections import Counter

import matplotlib.pyplot as plt
import torch

import elman
from elman.course import check
from elman.course.stories import tell_stories
from elman.generation import Cache, TextStream

plt.rcParams.update({"figure.dpi": 75, "figure.figsize": (7, 3)})

# %% [markdown]
# ## Two models: one reads words, one reads letters
#
# The text is the same as in notebook 06: little stories.

# %%
train = [story.text for story in tell_stories(2000, seed=1)]
valid = [story.text for story in tell_stories(100, seed=3)]
test = [story.text for story in tell_stories(300, seed=2)]

words = elman.LanguageModel.train(
    train, valid=valid, recipe={"model": {"embedding": 64}, "data": {"bptt": 30}},
    hidden=64, layers=1, dropout=0.1, epochs=10, lr=0.015, seed=1,
)  # fmt: skip

# %%
letters = elman.LanguageModel.train(
    train, valid=valid, recipe={"model": {"embedding": 32}, "tokens": {"kind": "chars"}},
    hidden=96, layers=1, dropout=0.0, epochs=4, lr=0.01, seed=1,
)  # fmt: skip

# %% [markdown]
# ## The next word
#
# After a blank, a completion is simply the most probable next word. `complete` ranks them.

# %%
for text in ["once upon a ", "the queen lost ", "the brothers lost ", "the witch saw him near the "]:
    print(f"{text:30}", *(f"{one.text} {one.probability:.2f}" for one in words.complete(text, k=4)), sep="  ")

# %% [markdown]
# The second and the third line differ in one word only, the hero, and the model has learnt what follows from it.
#
# ## In the middle of a word (row 31)
#
# Now somebody has typed `the pri`. Which words may it become? Only those that begin with *pri*, so all others are crossed
# out and the rest is divided by its sum:
#
# $$P(w \mid \text{typed}) = \frac{P(w)}{\sum_{v \text{ begins with typed}} P(v)}$$

# %%
@torch.no_grad()
def next_words(text):
    """The probability of each word after a text, from the softmax."""
    ids = torch.tensor([[words.end, *words.tokenizer.encode(text)]])
    chances = words.net(ids)[0, -1].softmax(-1)
    return dict(zip(words.tokenizer.items, chances.tolist(), strict=True))


fitting = {word: p for word, p in next_words("the").items() if word.startswith("pri")}
total = sum(fitting.values())
print("by hand: ", {word: round(p / total, 4) for word, p in fitting.items()})
print("complete:", {one.text: round(one.probability, 4) for one in words.complete("the pri")})

# %% [markdown]
# ### Exercise 07.1
#
# Write `complete(chances, typed, k)`. `chances` has the probability of each possible next word, `typed` is the beginning
# of a word. Return the `k` most probable words that begin so, the best first, as a list of pairs `(word, probability)`.
# The probabilities of *all* words with this beginning sum to one.

# %%
def complete(chances, typed, k): ...


check("07.1", complete);

# %% [markdown]
# Here is what the model thinks while somebody types *princess*, letter by letter. Each line is a word.

# %%
def follow_typing(model, before, word, shown=4):
    """How probable each word is after each letter that is typed."""
    steps = [{one.text: one.probability for one in model.complete(before + word[:n], k=50)} for n in range(len(word) + 1)]
    best = Counter()
    for step in steps:
        for candidate, chance in step.items():
            best[candidate] = max(best[candidate], chance)
    for candidate, _ in best.most_common(shown):
        plt.plot([step.get(candidate, 0) for step in steps], "o-", label=candidate)
    plt.xticks(range(len(word) + 1), [before.strip() + " …", *(word[: n + 1] for n in range(len(word)))], rotation=45)
    plt.ylabel("probability")
    plt.legend(loc="center left", bbox_to_anchor=(1, 0.5))


follow_typing(words, "the ", "princess")
plt.title("what it thinks while “princess” is typed");

# %% [markdown]
# *Prince* and *princess* share six letters: until the seventh comes, the letters say nothing more. Only the context can
# tell them apart. Give it some:

# %%
for text in ["the wolf saw his watch and asked the prin", "the wolf saw her watch and asked the prin"]:
    print(text, {one.text: round(one.probability, 2) for one in words.complete(text)})

# %% [markdown]
# ## Letter by letter
#
# A model of letters has no list of words. It writes a word letter by letter, up to the blank that ends it, and the
# probability of the word is a product:
#
# $$P(\textit{queen} \mid \textit{the qu}) = P(e \mid \textit{the qu}) \cdot P(e \mid \textit{the que}) \cdot
# P(n \mid \textit{the quee}) \cdot P(\text{end of the word} \mid \textit{the queen})$$
#
# The last factor matters: without it, *que* would be more probable than *queen*. There are endlessly many words, so
# `complete` searches: the most probable beginnings are extended first.

# %%
for text in ["the qu", "the pri", "the poor fis", "the grandmo", "the dragonfl"]:
    for name, model in {"words": words, "letters": letters}.items():
        found = ", ".join(f"{one.text} {one.probability:.2f}" for one in model.complete(text, k=3))
        print(f"{text:14} {name:8} {found or 'no idea'}")

# %% [markdown]
# A model of words knows its vocabulary and nothing else: for *dragonfl* it has no word. A model of letters can complete
# what it has never seen, and sometimes invents words. Subwords (`--tokens bpe`) are in between, and most common in
# practice.

# %% [markdown]
# ### Exercise 07.2
#
# Write `word_chance(next_letter, before, typed, word)`: the probability that the word that begins with `typed` becomes
# `word`. `next_letter(text)` returns a dictionary with the probability of each next letter after a text; the end of the
# word is the letter `" "`. For instance `word_chance(next_letter, "the ", "qu", "queen")`.

# %%
def word_chance(next_letter, before, typed, word): ...


check("07.2", word_chance);

# %% [markdown]
# ## How many keys does it save?
#
# Somebody types new stories, and `k` suggestions are shown all the time. As soon as the word is among them, one key takes
# it, with its blank. The rival is a telephone without a network: it suggests the most frequent words that begin with what
# was typed.

# %%
frequent = Counter(word for text in train for word in text.replace(".", "").replace(",", "").split()).most_common()


def suggest_frequent(text, k):
    typed = text.rpartition(" ")[2]
    return [word for word, _ in frequent if word.startswith(typed)][:k]


def suggest_words(text, k):
    return [one.text for one in words.complete(text, k=k)]


def suggest_letters(text, k):
    return [one.text for one in letters.complete(text, k=k, width=16)]


def count_keys(text, suggest, k):
    """The keys for a text: a letter or a blank is one, taking a suggestion is one."""
    keys, before = 0, ""
    for word in text.replace(",", "").rstrip(".").split():
        for typed in range(len(word) + 1):
            if word in suggest(before + word[:typed], k):
                break
        keys += typed + 1  # the letters, and the blank or the suggestion
        before += word + " "
    return keys


some = test[:6]
plain = sum(count_keys(text, lambda text, k: [], 0) for text in some)
rivals = {"frequent words": suggest_frequent, "model of letters": suggest_letters, "model of words": suggest_words}
for place, (name, suggest) in enumerate(rivals.items()):
    saved = [100 * (1 - sum(count_keys(text, suggest, k) for text in some) / plain) for k in (1, 3)]
    print(f"{name:17} 1 suggestion {saved[0]:4.1f} %   3 suggestions {saved[1]:4.1f} %")
    plt.barh([place - 0.18, place + 0.18], saved, height=0.34, color=["#c6dbef", "#4292c6"])
plt.yticks(range(3), rivals)
plt.xlabel("% of the keys saved (light: 1 suggestion, dark: 3)")
plt.title("typing new stories");

# %% [markdown]
# ## A text that never ends: streaming (row 4)
#
# To suggest something after each letter, must we read the whole text again? No. All that the network knows of the past is
# in its **state** $s_n$, and the state is a value: keep it, and go on from it when more text comes. The state of the
# beginning, $s_0$, is zero unless another one is given.

# %%
text = " ".join(test[:20])
stream = words.stream()
for start in range(0, len(text), 7):  # pieces of seven characters, cut anywhere
    stream.feed(text[start : start + 7])
stream.end()

print("in pieces:", round(stream.log_probability, 3), "nats,", stream.tokens, "tokens")
print("at once:  ", round(words.score(text).log_probability, 3), "nats")

# %% [markdown]
# Without a state to go on from, each new token would mean reading everything again. The picture counts the steps of the
# cell:

# %%
tokens = range(1, 201)
plt.plot(tokens, [n * (n + 1) / 2 for n in tokens], label="reading again from the beginning: n (n + 1) / 2")
plt.plot(tokens, list(tokens), label="going on from the state: n")
plt.xlabel("tokens that have come")
plt.ylabel("steps of the cell, in all")
plt.legend();

# %% [markdown]
# And the memory? It does not grow either. A stream can be stored as bytes and continued in another process, however
# long the text was:

# %%
sizes = {}
stream = words.stream()
for count, line in enumerate(test, 1):
    stream.feed(line + "\n")
    if count in (1, 10, 300):
        sizes[count] = len(stream.to_bytes())
print("bytes after 1, 10 and 300 sentences:", sizes)

stream.feed("once upon a ti")
elsewhere = TextStream.from_bytes(words, stream.to_bytes())
print(f"pending: {elsewhere.pending!r}, and it goes on with {elsewhere.next(1)[0].text!r}")

# %% [markdown]
# `pending` is the end of the text that may still change: `ti` may become *time*. This is why a stream of words waits for
# the blank before it reads the word.

# %% [markdown]
# ### Exercise 07.3
#
# A server keeps one stream for each of its users. The model has **two** LSTM layers of **256** units, and each number takes
# 4 bytes. How many bytes is the state of one user? (Count the state of the layers only.)

# %%
state_bytes = ...
check("07.3", state_bytes);

# %% [markdown]
# A stream knows how surprising each sentence was, as it comes. Two of these sentences have been tampered with. Can you see
# which?

# %%
lines = test[40:50]
lines[3] = "the queen gave the dragon a red rose, but he never saw it again."
lines[7] = "slept the children from deep the well drank and."
stream, surprise = words.stream(), []
stream.feed("\n".join(test[:5]) + "\n")
for line in lines:
    before, count = stream.log_probability, stream.tokens
    stream.feed(line + "\n")
    surprise.append((before - stream.log_probability) / (stream.tokens - count))
plt.figure(figsize=(9, 3.4))
plt.barh(lines, surprise, color=["#fd8d3c" if i in (3, 7) else "#9ecae1" for i in range(10)])
plt.gca().invert_yaxis()
plt.xlabel("nats a token");

# %% [markdown]
# The scrambled one stands out. The other has a single wrong word, and a mean over the sentence hides it. Look at each
# word instead:

# %%
score = words.score(lines[3])
print(*(f"{token} {-p:.1f}" for token, p in zip(score.tokens, score.log_probs, strict=True)), sep="  ")

# %% [markdown]
# ## A model that gets to know you
#
# What has been written lately will be written again. A **cache** (Grave et al. 2017) remembers recent words together with
# the state before them, and makes them more probable after similar states. The weights stay as they are.

# %%
yours = "the grandmother lost her watch by the river, and she looked for it all night.\n" * 3
for name, cache in {"without": None, "with": Cache(share=0.3)}.items():
    found = words.complete(yours + "the ", k=4, cache=cache)
    print(f"{name:8} cache:", *(f"{one.text} {one.probability:.2f}" for one in found), sep="  ")

# %% [markdown]
# ## Things to change
#
# 1. Follow another word: `follow_typing(words, "in the mountains the ", "children")`. How early does the model know?
# 2. Show ten suggestions instead of three: `k=10`. Is it worth the time that people need to read them?
# 3. Train `letters` with `epochs=1`. How many keys does it save now, and which words does it invent?
#
# On a terminal, `elman complete models/book` completes while you type, and Tab takes the suggestion.
#
# ## What comes next
#
# A language model has one answer at each step: the next word. **Notebook 08** gives each word another label, a tag, and asks
# what changes if the tags depend on each other.
