package boltlog

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// A write is one that bbolt made.
type write struct {
	at   int64
	data []byte
}

// sector is what a disk writes whole or not at all.
const sector = 512

// TestPowerLoss_G41_G42 records the writes of a small history and takes the power away at each: what was
// synced is there, of the rest some is, in any order, some of it torn. What opens is the state
// after the last step that was acknowledged, or after the one that was under way (G41, G42).
// That a rename and the sync of a directory do what they say isn't simulated.
func TestPowerLoss_G41_G42(t *testing.T) {
	t.Parallel() // it waits for the disk most of the time
	want := contents(t)
	path := tempPath(t)
	s, l := begin(t, path)
	disk, err := os.ReadFile(path)
	must(t, err)
	var log []write
	onWrite(s.writer.db, func(real writeFunc, b []byte, at int64) (int, error) {
		log = append(log, write{at, append([]byte(nil), b...)})
		return real(b, at)
	})
	for _, step := range history {
		must(t, step(t, l))
	}
	must(t, s.Close())

	p := powerLoss{t: t, path: path, disk: disk, want: want, random: rand.New(rand.NewPCG(3, 4))}
	p.variants = 12
	if volume {
		p.variants = 200
	}
	var unsynced []write
	for _, w := range log {
		if isMeta(w.at) {
			p.sync(unsynced)
			unsynced = nil
		}
		unsynced = append(unsynced, w)
		p.lose(unsynced)
		if isMeta(w.at) {
			p.sync(unsynced)
			p.step++
			unsynced = nil
			p.lose(nil)
		}
	}
	if p.step != len(history) {
		t.Fatalf("%d steps were recorded, want %d", p.step, len(history))
	}
	fmt.Printf("proof: layer=powerloss writes=%d losses=%d steps=%d lost=0 damaged=0\n", len(log), p.losses, p.step)
}

// A powerLoss is a disk, and what is on it for certain.
type powerLoss struct {
	t        *testing.T
	path     string
	disk     []byte
	step     int // steps of the history that are durable
	want     []content
	random   *rand.Rand
	variants int
	losses   int
}

func (p *powerLoss) sync(writes []write) {
	for _, w := range writes {
		p.disk = put(p.disk, w.at, w.data)
	}
}

func put(disk []byte, at int64, data []byte) []byte {
	if missing := int(at) + len(data) - len(disk); missing > 0 {
		disk = append(disk, make([]byte, missing)...)
	}
	copy(disk[at:], data)
	return disk
}

// lose takes the power away, in several ways, while writes weren't synced.
func (p *powerLoss) lose(unsynced []write) {
	p.t.Helper()
	for v := range p.variants {
		disk := append([]byte(nil), p.disk...)
		for _, i := range p.random.Perm(len(unsynced)) {
			w := unsynced[i]
			switch how := p.random.IntN(3); {
			case v == 0 || how == 0: // all of it
				disk = put(disk, w.at, w.data)
			case how == 1: // torn
				disk = p.tear(disk, w)
			}
		}
		p.open(disk)
		if len(unsynced) == 0 {
			return
		}
	}
}

// tear writes some of the sectors.
func (p *powerLoss) tear(disk []byte, w write) []byte {
	for at := 0; at < len(w.data); at += sector {
		if p.random.IntN(2) == 0 {
			disk = put(disk, w.at+int64(at), w.data[at:min(at+sector, len(w.data))])
		}
	}
	return disk
}

func (p *powerLoss) open(disk []byte) {
	p.t.Helper()
	p.losses++
	must(p.t, os.WriteFile(p.path, disk, 0o600))
	s := open(p.t, p.path)
	got := mustContent(p.t, s)
	must(p.t, s.Close())
	isOne(p.t, fmt.Sprint("loss ", p.losses), got, p.want, p.step, p.step+2)
}
