"""The ranking that is central and not redundant: each pick stands for what is new."""
