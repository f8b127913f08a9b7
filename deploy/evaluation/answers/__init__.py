"""How good answers are, and how true their citations: judged questions asked as any client asks them."""
