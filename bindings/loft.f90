! Marked regions of loft (loft/region.h) for Fortran, through libloft.
!
!   use loft
!   call loft_region_begin("solve")
!   call solve(matrix)
!   call loft_region_end("solve")
!
! Built with the program: gfortran loft.f90 app.f90 -lloft. `loft stat --by region -- ./app` shows the regions.
module loft
  use, intrinsic :: iso_c_binding, only: c_char, c_size_t
  implicit none
  private
  public :: loft_region_begin, loft_region_end

  interface
    subroutine loft_region_enter(name, length) bind(C, name="loft_region_enter")
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
    end subroutine
    subroutine loft_region_leave(name, length) bind(C, name="loft_region_leave")
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
    end subroutine
  end interface

contains

  ! Blanks at the end are no part of a name.
  subroutine loft_region_begin(name)
    character(len=*), intent(in) :: name
    call loft_region_enter(name, len_trim(name, kind=c_size_t))
  end subroutine

  subroutine loft_region_end(name)
    character(len=*), intent(in) :: name
    call loft_region_leave(name, len_trim(name, kind=c_size_t))
  end subroutine

end module loft
