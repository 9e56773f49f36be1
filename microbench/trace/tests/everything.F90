! Calls MPI from Fortran, by mpif.h, `use mpi` (-DUSE_MPI) or `use mpi_f08` (-DUSE_F08), counts its calls, checks what they brought,
! and prints the count of each process.
#ifdef USE_F08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define WINDOW type(MPI_Win)
#define DATATYPE type(MPI_Datatype)
#define MESSAGE type(MPI_Message)
#define STATUS(n) type(MPI_Status) :: n
#define STATUSES(n, m) type(MPI_Status) :: n(m)
#define SOURCE_OF(s) s%MPI_SOURCE
#else
#define COMM integer
#define REQUEST integer
#define WINDOW integer
#define DATATYPE integer
#define MESSAGE integer
#define STATUS(n) integer :: n(MPI_STATUS_SIZE)
#define STATUSES(n, m) integer :: n(MPI_STATUS_SIZE, m)
#define SOURCE_OF(s) s(MPI_SOURCE)
#endif

program everything
#ifdef USE_F08
    use mpi_f08
#elif defined USE_MPI
    use mpi
#endif
    implicit none
#if !defined USE_F08 && !defined USE_MPI
    include 'mpif.h'
#endif
    integer :: error, rank, n_ranks, to, from, calls = 0, provided
    integer :: first = 1 ! index of the first request: mpi_f08 of MPICH 4.0 counts from 0
    call MPI_Init_thread(MPI_THREAD_SINGLE, provided, error)
    call counted(1)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, error)
    to = mod(rank + 1, n_ranks)
    from = mod(rank + n_ranks - 1, n_ranks)
    call messages()
    call several()
    call collectives()
    call one_sided()
    print '(a, i0, a, i0, a)', 'rank ', rank, ' made ', calls + 1, ' calls'
    call MPI_Finalize(error)

contains

    subroutine counted(n)
        integer, intent(in) :: n
        calls = calls + n
    end subroutine counted

    subroutine check(is_fine, what)
        logical, intent(in) :: is_fine
        character(*), intent(in) :: what
        if (is_fine) return
        print *, 'rank ', rank, ': wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 4, error)
    end subroutine check

    subroutine messages()
        integer :: value(8), got(8), n
        logical :: flag
        REQUEST :: one
        MESSAGE :: matched
        DATATYPE :: column
        STATUS(told)
        value = rank
        call MPI_Isend(value, 4, MPI_INTEGER, to, 7, MPI_COMM_WORLD, one, error)
        call MPI_Recv(got, 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        call MPI_Wait(one, MPI_STATUS_IGNORE, error)
        call counted(3)
        call check(got(4) == from, 'a receive without a status')
        call MPI_Sendrecv(value, 2, MPI_INTEGER, to, 8, got, 8, MPI_INTEGER, from, 8, MPI_COMM_WORLD, told, error)
        call MPI_Get_count(told, MPI_INTEGER, n, error)
        call counted(1)
        call check(SOURCE_OF(told) == from .and. n == 2, 'a status')
        call MPI_Type_vector(2, 1, 2, MPI_INTEGER, column, error)
        call MPI_Type_commit(column, error)
        call MPI_Issend(value, 1, column, to, 9, MPI_COMM_WORLD, one, error)
        call MPI_Mprobe(from, 9, MPI_COMM_WORLD, matched, told, error)
        call MPI_Mrecv(got, 1, column, matched, MPI_STATUS_IGNORE, error)
        flag = .false.
        do while (.not. flag)
            call MPI_Test(one, flag, told, error)
            call counted(1)
        end do
        call MPI_Type_free(column, error)
        call counted(4)
#ifdef USE_F08
        call MPI_Rsend(value, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
#else
        call MPI_Rsend(value, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, error)
#endif
        call counted(1)
    end subroutine messages

    subroutine several()
        integer :: value(4), got(4), k, which, done, found(4)
        REQUEST :: asked(4)
        STATUSES(told, 4)
        STATUS(one)
        value = [(rank + k, k = 1, 4)]
#ifdef USE_F08
        call MPI_Isend(value, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, asked(1), error)
        call MPI_Waitany(1, asked, first, MPI_STATUS_IGNORE, error)
        call counted(2)
#endif
        do k = 1, 2
            call MPI_Irecv(got(k:), 1, MPI_INTEGER, from, k, MPI_COMM_WORLD, asked(k), error)
            call MPI_Isend(value(k:), 1, MPI_INTEGER, to, k, MPI_COMM_WORLD, asked(2 + k), error)
        end do
        call MPI_Waitall(4, asked, MPI_STATUSES_IGNORE, error)
        call counted(5)
        call check(all(got(1:2) == [from + 1, from + 2]), 'several receives')
        call MPI_Recv_init(got, 1, MPI_INTEGER, from, 3, MPI_COMM_WORLD, asked(1), error)
        call MPI_Send_init(value, 1, MPI_INTEGER, to, 3, MPI_COMM_WORLD, asked(2), error)
        do k = 1, 2
            call MPI_Startall(2, asked, error)
            call MPI_Waitany(2, asked, which, one, error)
            call check(which - first == 0 .or. which - first == 1, 'which was completed')
            call MPI_Waitany(2, asked, which, MPI_STATUS_IGNORE, error)
            call MPI_Waitsome(2, asked, done, found, told, error)
            call check(done == MPI_UNDEFINED, 'that none is left')
            call counted(4)
        end do
        call MPI_Startall(2, asked, error)
        call MPI_Waitsome(1, asked, done, found, MPI_STATUSES_IGNORE, error)
        call check(done == 1 .and. found(1) == first, 'some')
        call MPI_Wait(asked(2), MPI_STATUS_IGNORE, error)
        call counted(3)
        do k = 1, 2
            call MPI_Request_free(asked(k), error)
        end do
        call counted(4)
    end subroutine several

    subroutine collectives()
        integer :: value, total, whole(64), counts(64), places(64), k
        COMM :: made, half
        REQUEST :: one
        value = rank + 1
        call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        call check(value == n_ranks * (n_ranks + 1) / 2, 'a sum in place')
        call MPI_Comm_dup(MPI_COMM_WORLD, made, error)
        call MPI_Comm_split(made, mod(rank, 2), rank, half, error)
        counts = 1
        places = [(k, k = 0, 63)]
        call MPI_Gatherv(rank, 1, MPI_INTEGER, whole, counts, places, MPI_INTEGER, 0, made, error)
        call check(rank /= 0 .or. whole(n_ranks) == n_ranks - 1, 'what was gathered')
        total = rank
        call MPI_Bcast(total, 1, MPI_INTEGER, 0, half, error)
        call check(total == mod(rank, 2), 'a broadcast')
        call MPI_Ibarrier(made, one, error)
        call MPI_Wait(one, MPI_STATUS_IGNORE, error)
        call MPI_Barrier(half, error)
        call MPI_Comm_free(half, error)
        call MPI_Comm_free(made, error)
        call counted(10)
    end subroutine collectives

    subroutine one_sided()
        integer(MPI_ADDRESS_KIND) :: bytes, at
        integer, asynchronous :: memory(8), value(4), got(4)
        WINDOW :: win
        memory = rank
        value = 100 + rank
        bytes = 32
        call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
        call MPI_Win_fence(0, win, error)
        at = 2
        call MPI_Put(value, 4, MPI_INTEGER, to, at, 4, MPI_INTEGER, win, error)
        call MPI_Win_fence(0, win, error)
        call check(memory(3) == 100 + from, 'a put')
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win, error)
        call MPI_Get(got, 4, MPI_INTEGER, to, at, 4, MPI_INTEGER, win, error)
        call MPI_Win_flush(to, win, error)
        call check(got(1) == 100 + rank, 'a get')
        call MPI_Win_unlock(to, win, error)
        call MPI_Win_free(win, error)
        call counted(9)
    end subroutine one_sided

end program everything
