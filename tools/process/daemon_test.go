package process

func playDaemon() {}
