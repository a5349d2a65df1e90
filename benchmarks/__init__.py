"""Side by side with what a user would pick instead; ratios from one run on one machine."""
