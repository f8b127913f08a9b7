"""What retrieval needs from the outside, one folder per technology."""
