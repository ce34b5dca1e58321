"""What features are made of others from: the factors of rows, as readers find them, and names of what is made."""
