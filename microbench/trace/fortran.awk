# Writes the functions of Fortran, of each row SK_ROW name @ (parameters) @ before @ after @ of mpi.def.
#
# All arguments of Fortran are addresses, so they go on to the library as they came: only what the row looks at is made C.
# Names are those of mpif.h and `use mpi`, and the two that `use mpi_f08` has with and without descriptors of arrays.

function looks_at(text, name) {
    gsub(/[^A-Za-z0-9_]+/, " ", text)
    return index(" " text " ", " " name " ") > 0
}

# Handles have a name for the conversion: MPI_Datatype is Type.
function converter(type) {
    sub(/^MPI_/, "", type)
    return "PMPI_" (type == "Datatype" ? "Type" : type) "_f2c"
}

function is_handle(type) {
    return type ~ /^MPI_(Comm|Win|Request|Message|Datatype|Group)$/
}

# Adds what makes the parameter C to `in_` and `out`: before the call and after it.
function convert(type, name, before, after,    is_in, is_out, many) {
    is_in = looks_at(before, name)
    is_out = looks_at(after, name)
    if (type == "MPI_Status *") {
        in_ = in_ "    MPI_Status *" name " = f_" name ";\n"
        passed[name] = name
    } else if (is_handle(type) && (is_in || is_out || name == "win")) {
        in_ = in_ "    " type " " name " = " converter(type) "(*(MPI_Fint *)f_" name ");\n"
    } else if (type ~ / \*$/ && is_handle(substr(type, 1, length(type) - 2)) && (is_in || is_out)) {
        sub(/ \*$/, "", type)
        many = name == "requests" ? "n" : "1"
        in_ = in_ "    " type " *" name " = " (many == "n" ? "scratch(2, sizeof(" type ") * (size_t)(n > 0 ? n : 1))" \
              : "&(" type "){ 0 }") ";\n"
        if (is_in)
            in_ = in_ "    TO_C(" converter(type) ", " many ", " name ", f_" name ")\n"
        else
            out = out "    TO_C(" converter(type) ", " many ", " name ", f_" name ")\n"
    } else if (type == "int" && (is_in || is_out || (name == "peer" && looks_at(after, "RMA")))) {
        in_ = in_ "    int " name " = *(MPI_Fint *)f_" name ";\n"
    } else if (type == "int *" && name == "which" && is_out) {
        out = out "    int *which = from_zero(f_which, " (parameters ~ /int \*done/ ? "*done" : "1") ");\n"
    } else if (type == "int *" && (is_in || is_out)) {
        in_ = in_ "    int *" name " = f_" name ";\n"
    }
}

function exported(symbol) {
    print "EXPORT void " symbol "(" addresses "MPI_Fint *error);"
    print "EXPORT void " symbol "(" addresses "MPI_Fint *error)\n{"
    print "    static fortran_" row " *real;"
    print "    FIND(real, \"" symbol "\")"
    print "    if (!sk_is_recording || sk_is_nested || sizeof(MPI_Fint) != sizeof(int))"
    print "        real(" same "error);"
    print "    else"
    print "        f_" row "(real, __builtin_return_address(0), " same "error);\n}"
}

/^SK_ROW / && !/char/ {
    sub(/^SK_ROW /, "")
    split($0, part, "@")
    row = part[1]
    gsub(/ /, "", row)
    parameters = part[2]
    gsub(/^ *\(|\) *$/, "", parameters)
    n_given = parameters == "void" ? 0 : split(parameters, given, / *, */)
    in_ = out = addresses = same = call = ""
    split("", passed)
    for (k = 1; k <= n_given; k++) {
        name = given[k]
        sub(/.*[ *]/, "", name)
        type = substr(given[k], 1, length(given[k]) - length(name))
        sub(/ +$/, "", type)
        sub(/^const /, "", type)
        convert(type, name, part[3], part[4])
        addresses = addresses "void *f_" name ", "
        same = same "f_" name ", "
        call = call (name in passed ? passed[name] : "f_" name) ", "
    }
    lower = tolower(row)
    print "\ntypedef void fortran_" row "(" addresses "MPI_Fint *);"
    print "static void f_" row "(fortran_" row " *real, const void *site, " addresses "MPI_Fint *error)\n{"
    print "    static struct sk_trace_place place;"
    print "    struct sk_call call = SK_NO_CALL;"
    print "    MPI_Fint status = MPI_SUCCESS;"
    print in_ "    sk_lock();"
    print "    " part[3]
    print "    uint32_t outer = sk_enter(&call, &place, SK_F_" row ", site);"
    print "    sk_is_nested = true;"
    print "    real(" call "&status);"
    print "    sk_is_nested = false;"
    print "    call.leave = sk_record_now();"
    print "    sk_lock();"
    print "    if (status == MPI_SUCCESS) {"
    print out "    " part[4]
    print "    }"
    print "    sk_leave(&call, outer);"
    print "    if (error)"
    print "        *error = status;\n}"
    exported("mpi_" lower "_")
    exported("mpi_" lower "_f08_")
    exported("mpi_" lower "_f08ts_")
    if (row ~ /^Win_allocate/)
        exported("mpi_" lower "_cptr_")
}
