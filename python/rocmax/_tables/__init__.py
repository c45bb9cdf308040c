"""What a table means: the kind of each column, decided once on the training table, and its coding for models."""
