"""What counts as the same word: how texts are cut into tokens, and tokens spelled as terms of a language.

`tokens` cuts, `names` takes identifiers and numbers apart, `spelling` turns tokens into the numbers of terms,
`languages` says which stemmer and stop words a language has. `shared.vectors.bm25` weighs the terms.
"""
