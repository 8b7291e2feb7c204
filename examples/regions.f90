! Two regions, one inside the other: an example of bindings/loft.f90.
!
!   loft stat --by region -e instructions,flops -- ./regions
program regions
  use loft
  implicit none
  real(8) :: sum
  integer :: i, step

  sum = 0
  call loft_region_begin("solve")
  do step = 1, 3
    call loft_region_begin("sweep")
    do i = 1, 1000
      sum = sum + 1.5d0
    end do
    call loft_region_end("sweep")
  end do
  call loft_region_end("solve")
  print *, sum
end program
