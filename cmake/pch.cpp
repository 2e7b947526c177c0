// Carries the precompiled header pch.h; every module reuses it (StokerModule.cmake).
