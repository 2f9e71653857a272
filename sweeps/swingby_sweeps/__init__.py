"""The experiments that come with swingby, a package each."""
