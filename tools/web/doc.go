// Package web asks HTTP services for what a tool needs of them: one request, one
// reply of bounded size, within a bounded time.
//
// [Do] tries again what may go better the next time: connections that fail, and
// the statuses 408, 425, 429 and 5xx, after the time that the service asks for.
// When trying again and how long to wait is github.com/cenkalti/backoff's work,
// what an attempt is and what its end means is this package's.
//
// What keeps the key of a service to itself:
//
//   - It travels by TLS only; without TLS a connection must end on this machine.
//   - Redirects are not followed: no service of these has a reason for one, and
//     the key would go with it.
//   - An [*Error] has no URL in it, and neither an error nor a reply the key, also
//     when the service repeats it.
//
// The proxy that HTTPS_PROXY and NO_PROXY name is used, since many networks have
// no other way out; the key goes through it in TLS. What needs no TLS needs no
// proxy and goes through none.
//
// No connection outlives a call: each attempt makes its own, so that a cancelled
// call leaves nothing behind, and an attempt does not fail by the connection of
// the one before.
package web
