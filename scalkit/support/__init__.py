"""What every other package uses: units, texts, colours, progress, whole files, TOML, native builds."""
