"""Questions, cosines and fusion as arrays, so that every setting is answered from one scoring."""
