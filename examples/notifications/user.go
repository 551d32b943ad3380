package main

import (
	_ "embed"
	"encoding/json"
	"slices"

	"github.com/heraldbus/herald"
)

// A User is somebody to notify.
type User struct {
	Name   string `json:"name"`
	Mail   string `json:"mail"`
	Phone  string `json:"phone"`  // empty: no SMS
	Device string `json:"device"` // empty: no push
	Digest bool   `json:"digest"` // news once in a while, as one mail, instead of each at once
	Mute   []Kind `json:"mute"`   // not wanted; security can't be muted
}

//go:embed testdata/users.json
var usersJSON []byte

// demoUsers are the users of the demonstration, by name.
func demoUsers() map[string]User {
	var list []User
	if err := json.Unmarshal(usersJSON, &list); err != nil {
		panic(err) // the file is part of the program
	}
	users := make(map[string]User, len(list))
	for _, u := range list {
		users[u.Name] = u
	}
	return users
}

func (u User) wants(k Kind) bool { return k == "security" || !slices.Contains(u.Mute, k) }

// A preference is a filter: whether a user is to get a notification this way.
type preference func(u User, k Kind) bool

func byMail(u User, k Kind) bool   { return u.Mail != "" && u.wants(k) && !inDigest(u, k) }
func bySMS(u User, k Kind) bool    { return u.Phone != "" && k == "security" }
func byPush(u User, k Kind) bool   { return u.Device != "" && u.wants(k) && k != "news" }
func inDigest(u User, k Kind) bool { return u.Mail != "" && u.Digest && u.wants(k) && k == "news" }

func (s *service) prefer(p preference) func(herald.Message[Notification]) bool {
	return func(m herald.Message[Notification]) bool {
		return p(s.users[m.Payload.User], m.Payload.Kind)
	}
}
