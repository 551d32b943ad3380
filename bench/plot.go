package main

import (
	"fmt"
	"math"
	"slices"
)

// colours are fit for light and dark pages and for the colour-blind.
var colours = map[string]string{
	"raw channel":               "#8c959f",
	"herald":                    "#d1495b",
	"map of channels":           "#b08968",
	"cskr/pubsub":               "#3d85c6",
	"tailscale eventbus":        "#2a9d8f",
	"asaskevich/EventBus async": "#e9a03b",
	"watermill gochannel":       "#9b5de5",
	"gocloud mempubsub":         "#7f8b52",
}

var legend = []string{"herald", "map of channels", "cskr/pubsub", "tailscale eventbus", "asaskevich/EventBus async", "watermill gochannel", "gocloud mempubsub"}

// ratioPlot shows each workload as a line, and each system as a dot at its
// ratio to the raw channel.
func ratioPlot(rows []row, procs int) string {
	lines, most := rowsByWorkload(rows, procs)
	const left, top, step = 170, 60, 30
	d := &drawing{width: 880, height: top + step*len(lines) + 90}
	x := scale{lo: .25, hi: max(10, math.Pow(10, math.Ceil(math.Log10(most)))), a: left, b: 850}
	bottom := float64(top + step*len(lines))
	d.text(left, 24, "start", "head", fmt.Sprintf("Time per delivery, as a multiple of a raw channel's (GOMAXPROCS=%d; left is faster)", procs))
	for _, v := range x.ticks() {
		class := "grid"
		if v == 1 {
			class = "base"
		}
		d.line(x.at(v), top-14, x.at(v), bottom, class)
		d.text(x.at(v), bottom+18, "middle", "", short(v)+"×")
	}
	for i, line := range lines {
		y := float64(top + step*i + step/2)
		d.text(left-10, y+4, "end", "", line[0].workload.name)
		for _, r := range heraldLast(line) {
			d.dot(x.at(r.wall), y, colours[r.system], fmt.Sprintf("%s: %.2f", r.system, r.wall))
		}
	}
	for i, name := range legend {
		d.key(float64(20+(i%4)*215), bottom+42+float64(i/4)*20, name)
	}
	return d.String()
}

// key is an entry of a legend.
func (d *drawing) key(x, y float64, name string) {
	d.dot(x, y, colours[name], name)
	d.text(x+10, y+4, "start", "", name)
}

// heraldLast puts herald's dot on top of the others.
func heraldLast(rows []row) []row {
	isHerald := func(r row) bool { return r.system == "herald" }
	i := slices.IndexFunc(rows, isHerald)
	if i < 0 {
		return rows
	}
	return append(slices.Concat(rows[:i], rows[i+1:]), rows[i])
}

// rowsByWorkload returns the rows of each workload but for the base line, and
// the greatest ratio.
func rowsByWorkload(rows []row, procs int) (lines [][]row, most float64) {
	for _, r := range rows {
		if r.procs != procs || r.system == "raw channel" {
			continue
		}
		if n := len(lines); n == 0 || lines[n-1][0].workload.name != r.workload.name {
			lines = append(lines, nil)
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], r)
		most = max(most, r.wall)
	}
	return lines, most
}

// growthPlot shows each family as a panel of its own, all with the same scale
// of cost.
func growthPlot(families []family) string {
	const width, height, columns = 290, 220, 3
	d := &drawing{width: width * columns, height: 40 + height*((len(families)+columns-1)/columns)}
	d.text(10, 22, "start", "head", "Cost of a delivery in ns, as one thing grows (both axes logarithmic)")
	d.key(560, 18, "herald")
	d.key(650, 18, "raw channel")
	lo, hi := bounds(families)
	for i, f := range families {
		ox, oy := float64(width*(i%columns)), float64(40+height*(i/columns))
		x := scale{float64(f.sizes[0]), float64(f.sizes[len(f.sizes)-1]), ox + 50, ox + width - 20}
		y := scale{lo, hi, oy + height - 50, oy + 20}
		for _, v := range y.ticks() {
			d.line(x.a, y.at(v), x.b, y.at(v), "grid")
			d.text(x.a-6, y.at(v)+4, "end", "", short(v))
		}
		for _, n := range f.sizes {
			d.text(x.at(float64(n)), y.a+18, "middle", "", short(float64(n)))
		}
		d.curve(x, y, f.sizes, f.rawValues, "raw channel")
		d.curve(x, y, f.sizes, f.values, "herald")
		d.text((x.a+x.b)/2, y.a+36, "middle", "", f.name)
	}
	return d.String()
}

// curve draws what was measured at the sizes, if anything was.
func (d *drawing) curve(x, y scale, sizes []int, values []float64, system string) {
	var points [][2]float64
	for i, v := range values {
		points = append(points, [2]float64{x.at(float64(sizes[i])), y.at(v)})
	}
	d.path(points, colours[system])
	for i, p := range points {
		d.dot(p[0], p[1], colours[system], fmt.Sprintf("%s, %d: %.0f ns", system, sizes[i], values[i]))
	}
}

// bounds are the powers of ten around all values.
func bounds(families []family) (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, f := range families {
		for _, v := range slices.Concat(f.values, f.rawValues) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi)))
}
