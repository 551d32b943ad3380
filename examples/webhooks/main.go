// Webhooks tells the rest of the world what happened: it posts each event of its input to the event's receiver, signed,
// in order, and again until the receiver has it.
//
//	go run ./examples/webhooks                             a demonstration, receivers included
//	go run ./examples/webhooks -hopeless                   the same, but one of them stays down
//	webhooks -receivers receivers.json -in events.jsonl    for real; -in - reads standard input
//
// An event is a line of JSON such as
//
//	{"id": "evt-01", "receiver": "billing", "type": "order.paid", "data": {"order": 1}}
//
// and receivers.json a list of
//
//	{"name": "billing", "url": "https://billing.example/hooks", "secret": "whsec_…"}
//
// What is posted, and how it's signed, follows the Standard Webhooks specification (standardwebhooks.com).
//
// What a team would otherwise get a queue server for is one subscription, in dispatcher.go, which is the file to read
// first: receivers side by side, each one's events in order; retries with jitter; a queue with a bound, and an input that
// waits for room in it; dead letters, and their replay. The one thing that herald doesn't do is survive a crash. But the
// whole input may be sent again: receivers know by its ID what they have.
//
// The first interrupt ends the input, and what was accepted is still delivered; the second ends the program. The exit
// status is 0 if every event reached an end, which may be a receiver's refusal; 1 if a receiver is still owed one; 2 for
// wrong use, input that can't be read and the like. Lines that are no events are reported, and fail nothing.
package main

import "os"

func main() {
	os.Exit(command(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
