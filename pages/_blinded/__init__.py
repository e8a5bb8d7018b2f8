"""What study pages may build on: sign-in, sessions, page frame, labelling. Nothing here can reach a verdict (import contract)."""
