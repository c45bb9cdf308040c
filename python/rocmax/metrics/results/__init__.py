"""Result objects and their words: summaries, tables, plain numbers and references."""
