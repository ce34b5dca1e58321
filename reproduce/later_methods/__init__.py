"""Experiments on methods that came after the papers: RFD-SON, S-AdaGrad and AIOLI."""
