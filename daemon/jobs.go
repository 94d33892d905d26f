package daemon

import (
	"sync"

	"github.com/loomd/loomd/tools"
)

// jobsOf are the background jobs of a session, which outlive its connections; nil when
// the daemon is being closed.
func (s *Server) jobsOf(session string) *tools.Jobs {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs == nil {
		return nil
	}
	if s.jobs[session] == nil {
		s.jobs[session] = tools.NewJobs()
	}
	return s.jobs[session]
}

// endJobs ends the jobs of a session, and returns when what they changed is proposed.
// A call that still runs can start none any more.
func (s *Server) endJobs(session string) {
	if jobs := s.jobsOf(session); jobs != nil {
		jobs.Close()
	}
}

// endAllJobs ends those of all sessions, side by side, for good.
func (s *Server) endAllJobs() {
	s.mu.Lock()
	all := s.jobs
	s.jobs = nil
	s.mu.Unlock()
	var ending sync.WaitGroup
	for _, jobs := range all {
		ending.Go(jobs.Close)
	}
	ending.Wait()
}
