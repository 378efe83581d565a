"""The rankers FRANe and Cover, and what all rankers share."""
