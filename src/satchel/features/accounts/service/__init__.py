"""The use cases of accounts, one file per subject; each is a function whose first argument is `Accounts`."""
