"""Tests of the drop's control plane, over HTTP."""
