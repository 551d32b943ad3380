// Notifications tells users what happened, by mail, SMS and push, each as they like it.
//
//	go run ./examples/notifications                a demonstration on testdata/events.jsonl
//	notifications -in events.jsonl                 the same on a file of yours; -in - reads standard input
//
// An event is a line of JSON such as
//
//	{"id": "n-01", "kind": "security", "user": "ada", "text": "Your password was reset."}
//
// Its kind is security, order or news, and is the topic it's published to: notify.security and so on. Channels are
// subscriptions to notify.>, all in service.go, which is the file to read first:
//
//   - a user's preferences are a filter, so that what a user doesn't want never waits in a queue;
//   - security goes before orders and orders before news, so a password reset overtakes a newsletter;
//   - what one user gets arrives in order, while many users are served at once: the key is the user;
//   - a channel that must not be called too often has a limiter, and one that fails is tried again;
//   - what fails for good is a dead letter, and those of a channel that was down are replayed when it's up again;
//   - users who prefer it get their news as one digest, made of a batch.
//
// The fakes that stand in for the three providers fail on purpose; see provider.go. The exit status is 0 if every event
// reached an end, which may be a dead letter; 1 if something was left over; 2 for wrong use or input that can't be read. Lines
// that are no events are reported, and fail nothing.
package main

import "os"

func main() {
	os.Exit(command(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
