"""Studies of several readers, several modalities and many cases (MRMC)."""
