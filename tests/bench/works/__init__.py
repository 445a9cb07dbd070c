"""What is measured, by subject: each function sets one side up and gives the callable of a round."""
