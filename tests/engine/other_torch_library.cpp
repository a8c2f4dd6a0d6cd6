// A torch library of another build: its interface has another number.
extern "C" int eureka_engine_interface() { return -1; }
