package main

import (
	"fmt"
	"math"
)

// colours are fit for light and dark pages and for the colour-blind.
var colours = map[string]string{
	"herald":                    "#d1495b",
	"map of channels":           "#8c959f",
	"cskr/pubsub":               "#3d85c6",
	"tailscale eventbus":        "#2a9d8f",
	"asaskevich/EventBus async": "#e9a03b",
	"watermill gochannel":       "#9b5de5",
	"gocloud mempubsub":         "#6b705c",
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
		for _, r := range line {
			d.dot(x.at(r.wall), y, colours[r.system], fmt.Sprintf("%s: %.2f", r.system, r.wall))
		}
	}
	for i, name := range legend {
		lx, ly := float64(left+(i%4)*180), bottom+42+float64(i/4)*20
		d.dot(lx, ly, colours[name], name)
		d.text(lx+10, ly+4, "start", "", name)
	}
	return d.String()
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
	lo, hi := bounds(families)
	for i, f := range families {
		ox, oy := float64(width*(i%columns)), float64(40+height*(i/columns))
		x := scale{float64(f.sizes[0]), float64(f.sizes[len(f.sizes)-1]), ox + 50, ox + width - 20}
		y := scale{lo, hi, oy + height - 50, oy + 20}
		for _, v := range y.ticks() {
			d.line(x.a, y.at(v), x.b, y.at(v), "grid")
			d.text(x.a-6, y.at(v)+4, "end", "", short(v))
		}
		var points [][2]float64
		for j, n := range f.sizes {
			px := x.at(float64(n))
			points = append(points, [2]float64{px, y.at(f.values[j])})
			d.text(px, y.a+18, "middle", "", short(float64(n)))
		}
		d.path(points, colours["herald"])
		for j, p := range points {
			d.dot(p[0], p[1], colours["herald"], fmt.Sprintf("%d: %.0f ns", f.sizes[j], f.values[j]))
		}
		d.text((x.a+x.b)/2, y.a+36, "middle", "", f.name)
	}
	return d.String()
}

// bounds are the powers of ten around all values.
func bounds(families []family) (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, f := range families {
		for _, v := range f.values {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi)))
}
