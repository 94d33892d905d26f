package daemon

import "time"

// reviewMode is the review mode that a session gets which asked for one.
func (s *Server) reviewMode(asked string) (string, error) {
	switch asked {
	case "", "auto", "staged":
		return "staged", nil
	case "blocking":
		return asked, nil
	}
	return "", invalid("reviewMode is %q: it is auto, staged or blocking", asked)
}

// reviewWait is how long a call of a session in mode blocking waits for the
// decision.
func (s *Server) reviewWait() time.Duration { return 30 * time.Second }
