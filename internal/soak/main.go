// Soak runs random programs against herald for as long as it's told to, and stops at the first promise that is broken.
//
//	go run ./internal/soak -for 1h
//	go run ./internal/soak -seed 42 -rounds 1      that round again
//
// A round makes a topic and some subscriptions with options drawn from its seed, lets publishers, consumers and meddlers
// (who pause, discard, replay, subscribe and close) loose on them on real threads, drains, and checks the accounts: every
// message offered to a subscription has met exactly one end, and was handled as often and in the order that was promised.
// The seed fixes what is drawn; how the threads interleave it doesn't, so a replay may have to be repeated: -rounds 1000.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	lasting := flag.Duration("for", 10*time.Second, "how long, unless -rounds says how many")
	seed := flag.Uint64("seed", 1, "of the first round; the next has the next")
	rounds := flag.Int("rounds", 0, "how many rounds of the one seed, instead of a time")
	flag.Parse()
	begun, done := time.Now(), totals{}
	for n := 0; ; n++ {
		switch {
		case *rounds > 0 && n >= *rounds, *rounds == 0 && time.Since(begun) >= *lasting:
			fmt.Printf("proof: layer=soak seconds=%.0f rounds=%d published=%d handled=%d violations=0\n",
				time.Since(begun).Seconds(), n, done.published, done.handled)
			return
		}
		s := *seed
		if *rounds == 0 {
			s += uint64(n)
		}
		t, err := round(s)
		if err != nil {
			fmt.Fprintf(os.Stderr, "soak: seed %d: %v\nagain: go run ./internal/soak -seed %d -rounds 1000\n", s, err, s)
			os.Exit(1)
		}
		done.published += t.published
		done.handled += t.handled
	}
}

// totals are what rounds did.
type totals struct{ published, handled uint64 }
