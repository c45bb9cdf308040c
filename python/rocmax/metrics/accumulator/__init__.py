"""Curves of samples that come in parts: more than memory holds, or from many machines."""
