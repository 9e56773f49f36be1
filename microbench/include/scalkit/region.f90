! Regions of a Fortran program: `use scalkit_region`, then call sk_region_begin("fft") and call sk_region_end("fft").
! Compile with this file, and with region.c beside it, which has what both call (region.h says what that is).
module scalkit_region
  use, intrinsic :: iso_c_binding, only: c_char, c_null_char, c_ptr, c_loc
  implicit none
  private
  public :: sk_region_begin, sk_region_end

  ! The C side keeps pointers to names: each is stored once here, for good.
  type :: kept
    character(kind=c_char), allocatable :: text(:)
    character(:), allocatable :: name
  end type
  type(kept), target, save :: names(256)
  integer, save :: used = 0

  interface
    subroutine c_begin(name) bind(C, name="sk_region_begin")
      import :: c_ptr
      type(c_ptr), value :: name
    end subroutine
    subroutine c_end(name) bind(C, name="sk_region_end")
      import :: c_ptr
      type(c_ptr), value :: name
    end subroutine
  end interface

contains

  subroutine sk_region_begin(name)
    character(*), intent(in) :: name
    call c_begin(c_loc(names(place(name))%text))
  end subroutine

  subroutine sk_region_end(name)
    character(*), intent(in) :: name
    call c_end(c_loc(names(place(name))%text))
  end subroutine

  integer function place(name)
    character(*), intent(in) :: name
    integer :: k
    !$omp critical (scalkit_region_names)
    place = 0
    do k = 1, used
      if (names(k)%name == name) place = k
    end do
    if (place == 0) then
      if (used == size(names)) error stop "scalkit_region: more than 256 names"
      used = used + 1
      place = used
      names(used)%name = trim(name)
      allocate (names(used)%text(len_trim(name) + 1))
      do k = 1, len_trim(name)
        names(used)%text(k) = name(k:k)
      end do
      names(used)%text(len_trim(name) + 1) = c_null_char
    end if
    !$omp end critical (scalkit_region_names)
  end function
end module
