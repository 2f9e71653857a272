"""Named sweeps of the phase diagrams that nobody has drawn yet; the page `swingby findings` says what each shows."""
