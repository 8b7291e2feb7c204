# Draws how often each function executed an instruction, from the CSV of loft.
#
#   loft stat --source virtual --by function -e instructions -o counts.csv -- ./app
#   gnuplot -e "counts='counts.csv'; picture='counts.svg'" plot_functions.gp
#
# `event` chooses another event of the file, `most` how many functions are shown.
if (!exists("counts")) counts = 'counts.csv'
if (!exists("picture")) picture = 'counts.svg'
if (!exists("event")) event = 'instructions'
if (!exists("most")) most = 12
set terminal svg size 900,500 noenhanced
set output picture
set datafile separator ','
set style fill solid 0.7
set boxwidth 0.7
set yrange [0:*]
set xtics rotate by -35 noenhanced
set ylabel event
set bmargin 9
unset key
# A row of the file: scope, part, event, value, ... An empty value was not counted.
rows = sprintf("< grep '^function,' '%s' | grep ',%s,' | sort -t, -k4,4gr | head -n %d", counts, event, most)
plot rows using 0:4:xtic(2) with boxes linecolor rgb '#0072b2'
