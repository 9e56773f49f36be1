# Makes of substitutes/*.c what the layer includes: calls go to PMPI_, so that nothing is replaced within a replacement, and
# the list of all of them follows, SK_SUBSTITUTES(X) with X(call, its substitute as in a file of rules, function).
/^\/\* section / {
    text = substr($0, 12, length($0) - 14)
    place = index(text, ": ")
    call = place ? substr(text, 5, place - 5) : ""
    use = place ? substr(text, place + 2) : ""
    gsub(/, /, "+", use)
}
call != "" && /^static int scalkit_/ {
    name = $3
    sub(/\(.*/, "", name)
    list = list " \\\n    X(" call ", \"" use "\", " name ")"
    call = ""
}
{
    gsub(/MPI_[A-Z][A-Za-z_]*\(/, "P&")
    print
}
END { print "\n#define SK_SUBSTITUTES(X)" list }
